/// What `--help` prints.
package enum HelpText {
  package static let text = """
    Measures reactors and rings beside their baselines and the machine's limits.

    USAGE: swift run -c release bench [options]

      --case NAME        only this case; a prefix such as 'ring' or 'latency.busy' selects all below it;
                         may be repeated or separated by commas. The limit a case is measured against
                         runs along.
      --producers LIST   numbers of producer or reader threads, such as 1,2,4 (default 1,2,4,8 and the
                         core count)
      --seconds S        measured time per case, variant and number of producers (default 0.25)
      --reactors N       how many reactors the cases 'scale' have (default 10000)
      --json FILE        also write the results to FILE
      --quick            smoke run of seconds: everything runs and is verified, figures mean little
      --list             print the cases and their variants
      --help             print this

    EXIT STATUS: 0 all verified · 1 a result was wrong · 2 the command line was
    """
}
