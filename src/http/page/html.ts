/** Text that is HTML already. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = string | number | Html | readonly Html[]

/** Escapes every inserted value that is not `Html`: for text and for quoted attributes. */
export const html = (literals: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(
    literals.map((literal, index) => `${index === 0 ? '' : insert(parts[index - 1])}${literal}`).join(''),
  )

const insert = (part: Part = ''): string => {
  if (part instanceof Html) return part.text
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part))
  return part.map(({ text }) => text).join('')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (each) => entities[each] ?? each)
