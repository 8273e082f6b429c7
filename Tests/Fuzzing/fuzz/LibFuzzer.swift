import FuzzProperties
import Glibc

/// libFuzzer calls this with each input. It checks the property that `FUZZ_PROPERTY` names.
///
/// This is unsafe code outside of the core, because C passes the bytes as a pointer.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  if let mismatch = chosenProperty.mismatch(bytes) {
    // libFuzzer keeps the input if the program stops like this.
    fatalError("\(chosenProperty) does not hold\n\(mismatch)")
  }
  return 0
}

// An environment variable, because the arguments are libFuzzer's.
private let chosenProperty: FuzzProperty = {
  guard let name = getenv("FUZZ_PROPERTY"), let property = FuzzProperty.named(String(cString: name)) else {
    fatalError("FUZZ_PROPERTY must be one of: \(FuzzProperty.all.map(\.name).joined(separator: " "))")
  }
  return property
}()
