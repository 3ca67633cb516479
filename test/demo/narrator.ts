import { styleText } from 'node:util'

/** Prints the demo step by step. */
export interface Narrator {
  title(text: string): void
  step(text: string, details?: Readonly<Record<string, string>>): void
  /** Indented, below a step. */
  block(text: string): void
  line(text?: string): void
}

const useColour = process.stdout.isTTY && process.env.NO_COLOR === undefined

const paint = (style: 'bold' | 'green' | 'dim', text: string): string =>
  useColour ? styleText(style, text) : text

/** Colours only on a terminal. */
export const createNarrator = (): Narrator => {
  const begun = performance.now()
  const since = () => `${((performance.now() - begun) / 1_000).toFixed(2).padStart(6)} s`
  return {
    title: (text) => console.log(`\n${paint('bold', text)}`),
    step: (text, details = {}) => {
      console.log(`${paint('dim', since())}  ${paint('green', '●')} ${text}`)
      for (const [name, value] of Object.entries(details)) {
        console.log(`            ${paint('dim', name.padEnd(12))} ${value}`)
      }
    },
    block: (text) => console.log(paint('dim', text.replaceAll(/^/gm, '            '))),
    line: (text = '') => console.log(text),
  }
}

/** Prints nothing. */
export const silentNarrator: Narrator = {
  title: () => undefined,
  step: () => undefined,
  block: () => undefined,
  line: () => undefined,
}

/** Formats an amount of a token with 6 decimals. */
export const formatAmount = (amount: bigint, symbol: string): string =>
  `${amount / 1_000_000n}.${(amount % 1_000_000n).toString().padStart(6, '0')} ${symbol}`
