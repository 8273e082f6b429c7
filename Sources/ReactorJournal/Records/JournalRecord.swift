import FoundationEssentials
import ReactorCore

/// A mutation that a journal can contain.
///
/// A mutation that conforms to `Codable` needs no more than the conformance; it is written as JSON, which takes about 2 µs.
/// A structure of numbers can be written as it is in memory: ``RawRecord``. By hand a record takes about 20 ns:
///
/// ```swift
/// enum Mutation: JournalRecord {
///   case deposit(account: UInt32, amount: Int64)
///
///   func encode(into encoder: inout RecordEncoder) {
///     switch self {
///     case .deposit(let account, let amount):
///       encoder.append(1 as UInt8)
///       encoder.append(account)
///       encoder.append(amount)
///     }
///   }
///
///   init(from decoder: inout RecordDecoder, version: UInt16) throws(MalformedRecord) {
///     switch try decoder.read(UInt8.self) {
///     case 1: self = .deposit(account: try decoder.read(), amount: try decoder.read())
///     default: throw MalformedRecord()
///     }
///   }
/// }
/// ```
public protocol JournalRecord: Sendable {
  /// Writes the record. On the owner of the reactor, for each mutation.
  func encode(into encoder: inout RecordEncoder)

  /// Reads a record. Any thread.
  ///
  /// - Parameters:
  ///   - decoder: Has the bytes.
  ///   - version: The version of the ``Schema`` that wrote it; or the newest one, if an upcaster has changed the bytes.
  /// - Throws: ``MalformedRecord`` if this is no such record.
  init(from decoder: inout RecordDecoder, version: UInt16) throws(MalformedRecord)
}

extension JournalRecord where Self: Codable {
  /// Stops the program if `encode(to:)` throws: there is nothing that could be written instead.
  public func encode(into encoder: inout RecordEncoder) {
    do { try JSON.encode(self, into: &encoder) } catch {
      fatalError("\(type(of: self)) cannot be written to a journal: \(error)")
    }
  }

  public init(from decoder: inout RecordDecoder, version: UInt16) throws(MalformedRecord) {
    self = try JSON.decode(Self.self, from: &decoder)
  }
}

/// How records and snapshots are written that only conform to `Codable`.
enum JSON {
  private static let infinity = ("Infinity", "-Infinity", "NaN")

  // One for all threads: they keep nothing of a value, and take a sixth of the time to make.
  private static let encoder = {
    let json = JSONEncoder()
    json.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: infinity.0, negativeInfinity: infinity.1, nan: infinity.2)
    // So that a value has the same bytes in each process. For a record, that takes no measurable time.
    json.outputFormatting = .sortedKeys
    return json
  }()

  private static let decoder = {
    let json = JSONDecoder()
    json.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: infinity.0, negativeInfinity: infinity.1, nan: infinity.2)
    return json
  }()

  static func encode(_ value: some Encodable, into encoder: inout RecordEncoder) throws {
    encoder.append(contentsOf: try Self.encoder.encode(value).bytes)
  }

  static func decode<Value: Decodable>(
    _: Value.Type, from decoder: inout RecordDecoder
  ) throws(MalformedRecord) -> Value {
    do {
      let bytes = decoder.readRest().withUnsafeBytes { Data($0) }
      return try Self.decoder.decode(Value.self, from: bytes)
    } catch {
      throw MalformedRecord("\(error)")
    }
  }
}
