import FuzzProperties
import Glibc

/// What libFuzzer calls with each input: the property that `FUZZ_PROPERTY` names.
///
/// Unsafe code outside of the core: C hands the bytes over as a pointer.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  if let mismatch = chosenProperty.mismatch(bytes) {
    // libFuzzer keeps the input of a program that stops so.
    fatalError("\(chosenProperty) does not hold\n\(mismatch)")
  }
  return 0
}

// The environment, because the arguments are libFuzzer's.
private let chosenProperty: FuzzProperty = {
  guard let name = getenv("FUZZ_PROPERTY"), let property = FuzzProperty.named(String(cString: name)) else {
    fatalError("FUZZ_PROPERTY must be one of: \(FuzzProperty.all.map(\.name).joined(separator: " "))")
  }
  return property
}()
