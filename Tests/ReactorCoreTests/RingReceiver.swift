import ReactorCore

extension Ring where Element: Copyable {
  /// What a drain receives, in order.
  func received(upTo limit: Int = .max) -> [Element] {
    var elements: [Element] = []
    let count = drain(upTo: limit) { (element: consuming Element) in elements.append(element) }
    precondition(count == elements.count, "drain says \(count), and gave \(elements.count)")
    return elements
  }
}

extension Lanes where Element: Copyable {
  /// What a drain receives, in order.
  func received(upTo limit: Int = .max, share: Int = 4096) -> [Element] {
    var elements: [Element] = []
    let count = drain(upTo: limit, share: share) { elements.append($0) }
    precondition(count == elements.count, "drain says \(count), and gave \(elements.count)")
    return elements
  }
}
