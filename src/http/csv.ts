/** A table as CSV (RFC 4180), with a row of names. */
export const formatCsv = <Name extends string>(
  names: readonly Name[],
  rows: readonly Readonly<Partial<Record<Name, string | undefined>>>[],
): string =>
  [names.map(formatField), ...rows.map((row) => names.map((name) => formatField(row[name] ?? '')))]
    .map((fields) => `${fields.join(',')}\r\n`)
    .join('')

/** Spreadsheets run what begins like a formula. */
const formatField = (text: string): string => {
  const inert = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}
