import { writeTable } from './writeTable.js'

/** One line of `admin check`. Holds no secrets. */
export interface Finding {
  readonly level: 'ok' | 'warning' | 'error'
  /** Such as `database` or `eip155:8453`. */
  readonly subject: string
  readonly text: string
}

export const describeFindings = (findings: readonly Finding[]): string => {
  const count = (level: Finding['level']) => findings.filter((each) => each.level === level).length
  const table = writeTable(findings.map(({ level, subject, text }) => [level, subject, text]))
  return `${table}\n\n${count('ok')} ok, ${count('warning')} warnings, ${count('error')} errors`
}
