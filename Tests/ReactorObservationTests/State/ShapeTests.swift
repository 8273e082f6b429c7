#if ObservationMacros
  import Foundation
  import ReactorObservation
  import ReactorRuntime
  import Testing

  /// What a type with the macro can still do.
  @Suite struct ShapeTests {
    @Test func `the memberwise initializer takes the properties`() {
      let inner = Inner(value: 3)
      let box = Box(elements: ["a"], limit: 2)
      #expect(inner.value == 3 && inner.label == "")
      #expect(box.elements == ["a"] && box.limit == 2 && box.transform("b") == "b")
    }

    @Test func `equality and hashes are those of the properties`() {
      var left = Inner(value: 1)
      let right = Inner(value: 1)
      #expect(left == right)
      #expect(left.hashValue == right.hashValue)
      left.value = 2
      #expect(left != right)
      left.value = 1
      #expect(left == right, "how often it was changed is no part of the value")
    }

    /// What a state of an app may be made of.
    @ObservableState struct Team<Member: Equatable & Sendable>: Sendable {
      var members: [Member] = []
      var range: (Int?, to: (Int?))
    }

    @Test
    func `the names of its parameters, and tuples of optionals, are as without the macro`() {
      var team = Team<Int>()
      #expect(team.range.0 == nil && team.range.to == nil)
      #expect(Tracking.announces({ team.members.append(1) }, to: { _ = team.members }))
      #expect(Tracking.announces({ team.range.0 = 1 }, to: { _ = team.range }))
    }

    @Test func `a state is printed with its properties, and without their numbers`() {
      let text = String(describing: Stored(count: 3, names: ["a"]))
      #expect(
        text
          == #"Stored(_count: 3, _names: ["a"], _$observationRegistrar: ReactorObservation.ObservableStateRegistrar)"#
      )
      var dumped = ""
      dump(Stored(count: 3), to: &dumped)
      #expect(!dumped.contains("version"))
    }

    @ObservableState struct Stored: Codable, Equatable {
      var count = 0
      var names: [String] = []
    }

    @Test func `a state can be encoded and decoded`() throws {
      let state = Stored(count: 3, names: ["a", "b"])
      let data = try JSONEncoder().encode(state)
      let decoded = try JSONDecoder().decode(Stored.self, from: data)
      #expect(decoded == state)
      #expect(decoded._$id != state._$id)
    }

    /// As it was before it got the macro, to a decoder.
    @ObservableState struct Named: Codable, Equatable {
      var count = 0

      enum CodingKeys: String, CodingKey {
        case _count = "count"
      }
    }

    @Test func `a state that names its coding keys is encoded as without the macro`() throws {
      let decoded = try JSONDecoder().decode(Named.self, from: Data(#"{"count":3}"#.utf8))
      #expect(decoded.count == 3)
      #expect(String(decoding: try JSONEncoder().encode(decoded), as: UTF8.self) == #"{"count":3}"#)
    }

    struct PlainForms: Codable {
      var bytes = Data([1, 2])
      var time = Date(timeIntervalSince1970: 0)
      var address = URL(string: "http://localhost/a")
      var number = 1.5 as Decimal
      var inner = [Data([3])]
    }

    @ObservableState struct Forms: Codable {
      var bytes = Data()
      var time = Date()
      var address: URL?
      var number = 0 as Decimal
      var inner: [Data] = []

      enum CodingKeys: String, CodingKey {
        case _bytes = "bytes"
        case _time = "time"
        case _address = "address"
        case _number = "number"
        case _inner = "inner"
      }
    }

    @Test func `types for which the encoder has a form of its own are encoded as without the macro`() throws {
      let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
      encoder.outputFormatting = .sortedKeys
      (encoder.dateEncodingStrategy, decoder.dateDecodingStrategy) = (.iso8601, .iso8601)
      let plain = try encoder.encode(PlainForms())
      let decoded = try decoder.decode(Forms.self, from: plain)
      #expect(decoded.bytes == Data([1, 2]) && decoded.number == 1.5)
      let encoded = try encoder.encode(decoded)
      #expect(String(decoding: encoded, as: UTF8.self) == String(decoding: plain, as: UTF8.self))
    }

    struct Plain: Codable { var name: String? }

    @ObservableState struct Nullable: Codable {
      var name: String?

      enum CodingKeys: String, CodingKey {
        case _name = "name"
      }
    }

    @Test(arguments: [nil, "Ada"]) func `an optional property is encoded as without the macro`(
      _ name: String?
    ) throws {
      let plain = try JSONEncoder().encode(Plain(name: name))
      let decoded = try JSONDecoder().decode(Nullable.self, from: plain)
      #expect(decoded.name == name)
      #expect(try JSONEncoder().encode(decoded) == plain)
      // Written by an earlier version of the macro.
      #expect(try JSONDecoder().decode(Nullable.self, from: Data(#"{"name":null}"#.utf8)).name == nil)
    }

    @Test func `a property inside of a condition is announced when a state is shown`() {
      for change in [{ $0.count = 1 }, { $0.message = "a" }] as [(inout Conditional) -> Void] {
        let base = Conditional()
        var (old, new) = (base, base)
        old._$adopt(from: nil)
        change(&new)
        new._$adopt(from: old)
        let reads = Tracking { _ = (old.count, old._$access(\.message)) }
        let other = Tracking { _ = old.name }
        _ = new._$announce(changesFrom: old)
        #expect(reads.isAnnounced)
        #expect(!other.isAnnounced)
      }
    }

    @Test func `a state in a public extension is observed`() {
      var state = Feature.State()
      #expect(Tracking.announces({ state.page = .second }, to: { _ = state.page }))
    }

    @Test func `a generic state is observed`() {
      var box = Box<Int>(elements: [1], limit: 2)
      #expect(Tracking.announces({ box.limit = 3 }, to: { _ = box.limit }))
      #expect(!Tracking.announces({ box.limit = 4 }, to: { _ = box.elements }))
      #expect(Tracking.announces({ box.elements.append(2) }, to: { _ = box.elements }))
    }

    @Test func `a property whose setter is less visible is observed`() {
      var state = Public()
      #expect(Tracking.announces({ state.add(3) }, to: { _ = state.total }))
      #expect(state.total == 3)
    }

    @Test func `a name that needs backquotes is observed`() {
      var state = Public()
      #expect(Tracking.announces({ state.default = 3 }, to: { _ = state.default }))
    }

    @ObservableState struct Raw {
      var `response time` = 0
      @Pulse var `last alert`: String?
    }

    @Test func `a name that is no identifier is observed`() {
      let base = Raw()
      var (old, new) = (base, base)
      #expect(Tracking.announces({ new.`response time` = 3 }, to: { _ = old.`response time` }))
      old._$adopt(from: nil)
      new.`last alert` = "a"
      new._$adopt(from: old)
      let reader = Tracking { old._$access(\.`last alert`) }
      _ = new._$announce(changesFrom: old)
      #expect(reader.isAnnounced)
    }

    @propertyWrapper struct Clamped {
      private var value: Int

      init(wrappedValue: Int) { value = min(wrappedValue, 9) }

      var wrappedValue: Int {
        get { value }
        set { value = min(newValue, 9) }
      }
    }

    @ObservableState struct Wrapped {
      var count = 0
      @ObservableStateIgnored @Clamped var level = 0
    }

    @Test func `an ignored property may have a wrapper`() {
      var state = Wrapped()
      let identity = state._$id
      #expect(!Tracking.announces({ state.level = 12 }, to: { _ = (state.level, state.count) }))
      #expect(state.level == 9)
      #expect(state._$id == identity)
      #expect(Tracking.announces({ state.count = 1 }, to: { _ = (state.level, state.count) }))
    }

    @ObservableState struct Empty {}

    @ObservableState struct Constants {
      let id = 1
    }

    @Test func `a state without properties conforms`() {
      #expect((Empty() as Any) is any ObservableState)
      #expect(Constants().id == 1)
      #expect(Constants()._$id != Constants()._$id)
    }

    @ObservableState struct Chosen {
      var level: Int = if isLarge { 10 } else { 1 }
      var name: String? =
        switch isLarge {
        case true: "large"
        case false: nil
        }
      var scale = if isLarge { 2.0 } else { 0.5 }
      static let isLarge = true
      #if NEVER
        let unused = 0
      #endif
    }

    @Test func `an initial value may be a condition`() {
      var state = Chosen()
      #expect(state.level == 10 && state.name == "large" && state.scale == 2)
      #expect(Tracking.announces({ state.level = 3 }, to: { _ = state.level }))
    }

    @ObservableState struct Initialized {
      var count: Int
      var double: Int

      init(count: Int) {
        self.count = count
        double = 2 * count
      }
    }

    @Test func `an initializer of the type sets the properties`() {
      let state = Initialized(count: 4)
      #expect(state.count == 4 && state.double == 8)
    }
  }
#endif
