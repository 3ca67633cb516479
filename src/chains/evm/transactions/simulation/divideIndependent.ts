import type { Hex } from 'viem'

/** Whose balances a payment changes; both in EIP-55 form. */
export interface Parties {
  readonly from: Hex
  readonly to: Hex
}

/** How many unfinished batches a payment is offered to before it opens another. */
const maxOpenBatches = 8

/**
 * Divides payments into batches in which no payment can change the outcome of another, whatever their tokens: no
 * two of one payer, and no payer who is also a recipient. In a batch each call sees what those before it did.
 */
export const divideIndependent = <Payment>(
  payments: readonly Payment[],
  partiesOf: (payment: Payment) => Parties,
  maxSize: number,
): readonly (readonly Payment[])[] => {
  const batches: Batch<Payment>[] = []
  let open: Batch<Payment>[] = []
  for (const payment of payments) {
    const parties = partiesOf(payment)
    let batch = open.find((candidate) => isIndependent(candidate, parties))
    if (batch === undefined) {
      batch = { payments: [], payers: new Set(), recipients: new Set() }
      batches.push(batch)
      open = [...open.slice(1 - maxOpenBatches), batch]
    }
    batch.payments.push(payment)
    batch.payers.add(parties.from)
    batch.recipients.add(parties.to)
    if (batch.payments.length >= maxSize) open = open.filter((other) => other !== batch)
  }
  return batches.map((batch) => batch.payments)
}

interface Batch<Payment> {
  readonly payments: Payment[]
  readonly payers: Set<Hex>
  readonly recipients: Set<Hex>
}

const isIndependent = ({ payers, recipients }: Batch<unknown>, { from, to }: Parties): boolean =>
  !payers.has(from) && !recipients.has(from) && !payers.has(to)
