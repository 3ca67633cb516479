@rem npm scripts begin with exec, which cmd.exe lacks.
@%*
