import Testing

/// Many threads against one another, in several families of scenarios; see README.md.
///
/// They run one after the other, because each scenario needs all processors.
@Suite(.serialized) struct StressTests {}
