import { beginCell, Cell, loadTransaction, type Transaction } from '@ton/core'
import { z } from 'zod'
import { countUnfolded } from '../encoding/cells.js'

const numberText = z.union([z.string().regex(/^-?[0-9]+$/), z.int()]).transform(BigInt)

const parseCell = (text: string): Cell | null => {
  try {
    return Cell.fromBase64(text)
  } catch {
    return null
  }
}

/** Base64 bag of cells; null if it is empty, or in a form that the library does not read: any account can have one. */
const cellShape = z.string().transform(parseCell)

const transactionId = z.object({ lt: numberText, hash: z.string() })

export const masterchainShape = z.object({
  last: z.object({ seqno: z.int() }),
  init: z.object({ root_hash: z.string() }),
})

export const accountShape = z.object({
  balance: numberText,
  code: cellShape,
  data: cellShape,
  state: z.enum(['active', 'uninitialized', 'frozen']),
  sync_utime: z.int(),
  last_transaction_id: transactionId,
})

export const momentShape = z.object({ sync_utime: z.int() })

// Cells can be shared, so a small bag can unfold to millions, all visited by the library (4,096: 0.1 s).
const maxUnfolded = 4_096
const noMessages = beginCell().storeBit(0).storeBit(0).endCell()

/**
 * The messages of any account's transaction are untrusted. A payment's messages unfold to some hundred
 * cells; a larger transaction is unrelated, and is read without its messages to keep its place in the list.
 */
const parseTransaction = (cell: Cell): Transaction => {
  if (countUnfolded(cell) <= maxUnfolded) return loadTransaction(cell.beginParse())
  const [, ...others] = cell.refs
  const withoutMessages = new Cell({ bits: cell.bits, refs: [noMessages, ...others] })
  if (countUnfolded(withoutMessages) > maxUnfolded)
    throw new Error('The transaction unfolds to too many cells')
  return loadTransaction(withoutMessages.beginParse())
}

export const transactionShape = z
  .object({ data: z.string(), transaction_id: transactionId })
  .transform(({ data, transaction_id: id }, context) => {
    try {
      const cell = Cell.fromBase64(data)
      return { ...parseTransaction(cell), id, cellHash: cell.hash() }
    } catch {
      context.addIssue({ code: 'custom', message: 'is not a transaction' })
      return z.NEVER
    }
  })

const stackCell = z.tuple([z.string(), z.object({ bytes: z.string() })])
// Negative numbers do not occur in the methods used here.
const stackNumber = z.tuple([z.string(), z.string().regex(/^(0x[0-9a-f]+|[0-9]+)$/i)])

export const getMethodShape = z.object({
  exit_code: z.int(),
  stack: z.array(
    z.union([
      stackCell.transform(([, { bytes }]) => parseCell(bytes)),
      stackNumber.transform(([, text]) => BigInt(text)),
      z.unknown().transform(() => null),
    ]),
  ),
})
