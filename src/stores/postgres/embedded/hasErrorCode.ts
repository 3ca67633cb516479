/** Whether a thrown value has one of these codes (`ENOENT`, SQLSTATE `28P01`, …). */
export function hasErrorCode(error: unknown, ...codes: readonly string[]): boolean {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code)
  )
}
