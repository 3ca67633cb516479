import { ParameterSchema } from '@taquito/michelson-encoder'
import { z } from 'zod'
import type { TransferEntry } from '../source.js'
import { naturalShape, transferShapeOf } from '../transferShape.js'

const named = (prim: string, name: string) => ({ prim, annots: [`%${name}`] })

/** TZIP-12: `list (pair (address %from_) (list %txs (pair (address %to_) (nat %token_id) (nat %amount))))`. */
const transferParameter = new ParameterSchema({
  prim: 'list',
  args: [
    {
      prim: 'pair',
      args: [
        named('address', 'from_'),
        {
          prim: 'list',
          annots: ['%txs'],
          args: [
            {
              prim: 'pair',
              args: [
                named('address', 'to_'),
                { prim: 'pair', args: [named('nat', 'token_id'), named('nat', 'amount')] },
              ],
            },
          ],
        },
      ],
    },
  ],
})

/** The library's numbers have arbitrary precision. */
const decodedNumber = z
  .custom<{ toFixed(): string }>((value) => typeof value === 'object' && value !== null && 'toFixed' in value)
  .transform((value) => value.toFixed())
  .pipe(naturalShape)

const decodedShape = transferShapeOf(decodedNumber)

/** Readable and optimised Micheline alike. Empty if the value is not of the type: then it is no FA2 contract. */
export const decodeTransferParameter = (value: unknown): readonly TransferEntry[] => {
  if (!isBounded(value)) return []
  try {
    return decodedShape.parse(transferParameter.Execute(value))
  } catch {
    return []
  }
}

const maxDepth = 32
// An operation has at most 32 kB, and a node of its parameter at least one byte.
const maxNodes = 33_000

/** The library recurses. */
const isBounded = (value: unknown): boolean => {
  const open = [{ node: value, depth: 0 }]
  let nodes = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, depth } = next
    nodes += 1
    if (nodes > maxNodes || depth > maxDepth) return false
    if (typeof node !== 'object' || node === null) continue
    for (const child of Object.values(node)) open.push({ node: child, depth: depth + 1 })
  }
  return true
}
