import Testing

/// Many threads against one another, in every family of scenarios; see README.md.
///
/// One after the other: each scenario wants the processors for itself.
@Suite(.serialized) struct StressTests {}
