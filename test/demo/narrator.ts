import { styleText } from 'node:util'

/** Tells what happens, a step at a time, for people at a terminal. */
export interface Narrator {
  title(text: string): void
  step(text: string, details?: Readonly<Record<string, string>>): void
  line(text?: string): void
}

const useColour = process.stdout.isTTY && process.env.NO_COLOR === undefined

const paint = (style: 'bold' | 'green' | 'dim', text: string): string =>
  useColour ? styleText(style, text) : text

/** Writes to standard output; colours only where a terminal shows them. */
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
    line: (text = '') => console.log(text),
  }
}

/** Smallest units of a 6-decimal token as people write them. */
export const formatAmount = (amount: bigint, symbol: string): string =>
  `${amount / 1_000_000n}.${(amount % 1_000_000n).toString().padStart(6, '0')} ${symbol}`
