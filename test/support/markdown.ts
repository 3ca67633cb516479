export type TableRow = Readonly<Record<string, string>>

export const readTable = (markdown: string, heading: string): readonly TableRow[] => {
  const tables = markdown
    .split(/\n(?!\|)/)
    .map((block) => block.split('\n').filter((line) => line.startsWith('|')))
  return tables.flatMap(([head = '', , ...rows]) => {
    const headings = readCells(head)
    if (!headings.includes(heading)) return []
    return rows.map((row) => Object.fromEntries(readCells(row).map((cell, at) => [headings[at] ?? '', cell])))
  })
}

const readCells = (line: string): readonly string[] =>
  line
    .replace(/^\|/, '')
    .replace(/\|\s*$/, '')
    .split('|')
    .map((cell) => cell.trim())

export const readCodeSpans = (text: string): readonly string[] =>
  [...text.matchAll(/`([^`\n]+)`/g)].map(([, span]) => span ?? '')
