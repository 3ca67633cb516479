import { beginCell, Cell, loadTransaction, type Transaction } from '@ton/core'
import { z } from 'zod'
import { setNewest } from '../../../concurrency/boundedMap.js'
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

const codes = new Map<string, Cell | null>()
const maxCodes = 64
// That of a wallet has up to 3 kB.
const maxCodeLength = 8_192

/**
 * Nearly all payers use one of few wallet contracts, and parsing computes the hash of every cell. A cell is a function of
 * its text, so that what is cached cannot become wrong.
 */
const parseCode = (text: string): Cell | null => {
  const known = codes.get(text)
  const code = known === undefined ? parseCell(text) : known
  if (text.length <= maxCodeLength) setNewest(codes, text, code, maxCodes)
  return code
}

const transactionId = z.object({ lt: numberText, hash: z.string() })

export const masterchainShape = z.object({
  last: z.object({ seqno: z.int() }),
  init: z.object({ root_hash: z.string() }),
})

export const accountShape = z.object({
  balance: numberText,
  code: z.string().transform(parseCode),
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

export const transactionsShape = z.array(transactionShape)

const stackCell = z.tuple([z.string(), z.object({ bytes: z.string() })])
// Negative numbers do not occur in the methods used here.
const stackNumber = z.tuple([z.string(), z.string().regex(/^(0x[0-9a-f]+|[0-9]+)$/i)])

const readStackEntry = (entry: unknown): Cell | bigint | null => {
  const number = stackNumber.safeParse(entry)
  if (number.success) return BigInt(number.data[1])
  const cell = stackCell.safeParse(entry)
  return cell.success ? parseCell(cell.data[1].bytes) : null
}

/** Of the stack only the first entry is read: what follows holds the code of a contract, and parsing hashes it. */
export const getMethodShape = z.object({
  exit_code: z.int(),
  stack: z.array(z.unknown()).transform((stack) => stack.slice(0, 1).map(readStackEntry)),
})
