type TableRow = Readonly<Record<string, string>>

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

/** Removes fenced code blocks. */
const withoutCodeBlocks = (markdown: string): string => markdown.replaceAll(/^```[^\n]*\n[\s\S]*?^```$/gm, '')

/** Contents of fenced code blocks. */
export const readCodeBlocks = (markdown: string): readonly string[] =>
  [...markdown.matchAll(/^```[^\n]*\n([\s\S]*?)^```$/gm)].map(([, code]) => code ?? '')

/** Targets of inline links, as written. */
export const readLinks = (markdown: string): readonly string[] =>
  [
    ...withoutCodeBlocks(markdown)
      .replaceAll(/`[^`\n]+`/g, '')
      .matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g),
  ].map(([, target]) => target ?? '')

/** Anchors that GitHub generates for headings. */
export const readAnchors = (markdown: string): readonly string[] => {
  const seen = new Map<string, number>()
  return [...withoutCodeBlocks(markdown).matchAll(/^#{1,6} +(.+)$/gm)].map(([, heading = '']) => {
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  })
}
