const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

export type Style = keyof typeof codes
export type Paint = (style: Style, text: string) => string

export const createPaint = (hasColours: boolean): Paint =>
  hasColours ? (style, text) => `\u001B[${codes[style]}m${text}\u001B[0m` : (_style, text) => text

/** Names of callers and answers of nodes must not control the terminal. */
export const printable = (text: string): string => text.replaceAll(/\p{C}+/gu, ' ')
