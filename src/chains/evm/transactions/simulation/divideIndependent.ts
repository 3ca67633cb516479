import type { Hex } from 'viem'

/** In EIP-55 form. */
export interface Parties {
  readonly payer: Hex
  readonly payTo: Hex
}

// Groups open to further calls; bounds the search to a constant per call.
const maxOpenGroups = 8

/**
 * Divides calls into groups whose members cannot affect each other: no payer twice, and no payer as a
 * recipient. In a shared simulation each call sees the effects of earlier ones.
 */
export const divideIndependent = <Item>(
  items: readonly Item[],
  partiesOf: (item: Item) => Parties,
  maxSize: number,
): readonly (readonly Item[])[] => {
  const groups: Group<Item>[] = []
  let open: Group<Item>[] = []
  for (const item of items) {
    const parties = partiesOf(item)
    let group = open.find((candidate) => isIndependent(candidate, parties))
    if (group === undefined) {
      group = { items: [], payers: new Set(), recipients: new Set() }
      groups.push(group)
      open = [...open.slice(1 - maxOpenGroups), group]
    }
    group.items.push(item)
    group.payers.add(parties.payer)
    group.recipients.add(parties.payTo)
    if (group.items.length >= maxSize) open = open.filter((other) => other !== group)
  }
  return groups.map((group) => group.items)
}

interface Group<Item> {
  readonly items: Item[]
  readonly payers: Set<Hex>
  readonly recipients: Set<Hex>
}

const isIndependent = ({ payers, recipients }: Group<unknown>, { payer, payTo }: Parties): boolean =>
  !payers.has(payer) && !recipients.has(payer) && !payers.has(payTo)
