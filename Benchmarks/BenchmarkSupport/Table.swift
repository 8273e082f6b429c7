/// A table of texts with aligned columns, broken into several when it grows wider than a terminal.
package struct Table: Sendable {
  package struct Column: Sendable {
    package var header: String
    /// One cell per row, each of one line or several.
    package var cells: [[String]]

    package init(header: String, cells: [[String]]) {
      self.header = header
      self.cells = cells
    }

    /// All lines of the column at equal width, the header first; a row has as many lines as `heights` says.
    fileprivate func lines(heights: [Int]) -> [String] {
      let texts = zip(cells, heights).flatMap { cell, height in
        (0..<height).map { $0 < cell.count ? cell[$0] : "" }
      }
      let width = ([header] + texts).map(\.count).max() ?? 0
      return ([header] + texts).map { $0.leftPadded(to: width) }
    }
  }

  package var title: String
  package var labels: [String]
  package var columns: [Column]
  /// A line below the table.
  package var remark: String?

  package init(title: String, labels: [String], columns: [Column], remark: String? = nil) {
    self.title = title
    self.labels = labels
    self.columns = columns
    self.remark = remark
  }

  package func rendered(width: Int = 120) -> String {
    let heights = labels.indices.map { row in columns.map { $0.cells[row].count }.max() ?? 1 }
    let labelLines = labelLines(heights: heights)
    var blocks: [[String]] = []
    var block = labelLines
    for column in columns {
      let lines = column.lines(heights: heights)
      var wider = zip(block, lines).map { $0 + "  " + $1 }
      if wider[0].count > width, block != labelLines {
        blocks.append(block)
        wider = zip(labelLines, lines).map { $0 + "  " + $1 }
      }
      block = wider
    }
    blocks.append(block)
    return title + "\n" + blocks.map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
      + (remark.map { "\n\($0)\n" } ?? "")
  }

  private func labelLines(heights: [Int]) -> [String] {
    let width = labels.map(\.count).max() ?? 0
    let rows = zip(labels, heights).flatMap { label, height in
      [label] + Array(repeating: "", count: height - 1)
    }
    return ([""] + rows).map { "  " + $0.rightPadded(to: width) }
  }
}

extension String {
  fileprivate func leftPadded(to width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }

  fileprivate func rightPadded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}
