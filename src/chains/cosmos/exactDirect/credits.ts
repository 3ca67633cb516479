import type { ChainEvent } from '../rpc/wireShapes.js'

/** What an account received from one message, in smallest units. */
export type Credits = (messageIndex: number, account: string, asset: string) => bigint

// Amounts as the bank module writes them: `1000000uusdc`, several separated by commas.
const coinForm = /^([0-9]{1,78})([a-zA-Z][a-zA-Z0-9/:._-]{2,127})$/

/** By the `transfer` events of messages. The event of the fee has no `msg_index`. */
export const countCredits = (events: readonly ChainEvent[]): Credits => {
  const received = new Map<string, bigint>()
  for (const event of events) {
    const messageIndex = readAttribute(event, 'msg_index')
    const recipient = readAttribute(event, 'recipient')
    if (event.type !== 'transfer' || messageIndex === null || recipient === null) continue
    for (const coin of (readAttribute(event, 'amount') ?? '').split(',')) {
      const [, amount, denom] = coinForm.exec(coin) ?? []
      if (amount === undefined || denom === undefined) continue
      const key = [messageIndex, recipient, denom].join()
      received.set(key, (received.get(key) ?? 0n) + BigInt(amount))
    }
  }
  return (messageIndex, account, asset) => received.get([messageIndex, account, asset].join()) ?? 0n
}

/** Null if it is missing or given twice. */
const readAttribute = ({ attributes }: ChainEvent, key: string): string | null => {
  const [first, ...others] = attributes.filter((attribute) => attribute.key === key)
  return first === undefined || others.length > 0 ? null : (first.value ?? null)
}
