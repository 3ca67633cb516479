/** Tells whether something thrown carries one of these error codes (`ENOENT`, `28P01` …). */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code)
  )
}
