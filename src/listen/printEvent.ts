import { z } from 'zod'
import type { ListedEvent } from './followEvents.js'

const shown = z.looseObject({
  id: z.string().optional(),
  network: z.string().optional(),
  amount: z.string().optional(),
  payer: z.string().optional(),
  transaction: z.string().optional(),
  errorReason: z.string().optional(),
})

/** One line: time, type, and what identifies the payment. Without control characters: data holds text of callers. */
export const printEvent = ({ type, timestamp, data }: ListedEvent): string => {
  const { id, network, amount, payer, transaction, errorReason } = shown.safeParse(data).data ?? {}
  const parts = [
    ...[timestamp, type, errorReason, network, amount === undefined ? undefined : `amount ${amount}`],
    ...[payer === undefined ? undefined : `payer ${payer}`, transaction, id],
  ]
  return parts
    .filter((part) => part !== undefined && part !== '')
    .join('  ')
    .replaceAll(/\p{C}/gu, '')
}
