/** Codes such as `ENOENT`, or an SQLSTATE. */
export function hasErrorCode(error: unknown, ...codes: readonly string[]): boolean {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code)
  )
}
