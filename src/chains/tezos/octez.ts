import { ParameterSchema } from '@taquito/michelson-encoder'
import { z } from 'zod'
import { RpcError } from '../nodes/endpoint.js'
import { createBlockCache, findPosition, headerShape, type Position } from './blockSearch.js'
import {
  blocksOnTop,
  type FoundOperation,
  naturalShape,
  operationHashShape,
  type Read,
  type Source,
  statusShape,
  type TransferCall,
  type TransferEntry,
  transferShapeOf,
} from './source.js'

const notFound = 404

/** Reads an octez node; remembers which operations recent blocks hold. */
export const createOctezSource = (read: Read, chainId: string): Source => {
  const cache = createBlockCache(read)

  const getHeader = () => read('/chains/main/blocks/head/header', headerShape)

  const readOperation = async ({ block, index }: Position, hash: string): Promise<FoundOperation> => {
    const path = `/chains/main/blocks/${block.hash}/operations/3/${index}?force_metadata=true`
    const operation = await read(path, operationShape)
    if (operation.hash !== hash) throw new Error('The node returned another operation')
    return {
      state: 'final',
      includedAt: block.time,
      isApplied: operation.contents.every(({ metadata }) => metadata.operation_result.status === 'applied'),
      calls: operation.contents.flatMap(listCalls),
    }
  }

  return {
    getHead: async () => {
      const { chain_id, level, timestamp } = await getHeader()
      return { chainId: chain_id, level, time: timestamp }
    },
    findOperation: async ({ hash, notBefore }) => {
      const head = await getHeader()
      if (head.chain_id !== chainId) throw new Error(`The node serves chain ${head.chain_id}`)
      const position = await findPosition(cache, { head, operation: hash, notBefore })
      if (position === 'missing') return { state: 'missing' }
      if (position === 'unfinished' || position.onTop < blocksOnTop) return { state: 'pending' }
      return await readOperation(position, hash)
    },
    // Which ids a contract knows only its storage shows, in its own form.
    hasToken: async ({ contract }) => {
      try {
        await read(`/chains/main/blocks/head/context/contracts/${contract}/entrypoints/transfer`, z.unknown())
        return true
      } catch (error) {
        if (error instanceof RpcError && error.code === notFound) return false
        throw error
      }
    },
    // The view of TZIP-12, not the storage: each contract keeps its balances in its own form.
    readBalance: ({ contract, tokenId, owner }) =>
      read('/chains/main/blocks/head/helpers/scripts/run_view', balancesShapeOf({ owner, tokenId }), {
        contract,
        entrypoint: 'balance_of',
        input: [{ prim: 'Pair', args: [{ string: owner }, { int: tokenId }] }],
        chain_id: chainId,
        unparsing_mode: 'Readable',
      }),
  }
}

type Content = z.infer<typeof operationShape>['contents'][number]

const listCalls = ({ kind, source, destination, parameters }: Content): readonly TransferCall[] => {
  if (kind !== 'transaction' || source === undefined || destination === undefined) return []
  if (parameters?.entrypoint !== 'transfer') return []
  return [{ source, destination, entries: [...decodeTransferParameter(parameters.value)] }]
}

const contentShape = z.object({
  kind: z.string(),
  metadata: z.object({ operation_result: z.object({ status: statusShape }) }),
  source: z.string().optional(),
  destination: z.string().optional(),
  parameters: z.object({ entrypoint: z.string(), value: z.unknown() }).optional(),
})

const operationShape = z.object({
  chain_id: z.string(),
  hash: operationHashShape,
  contents: z.array(contentShape).min(1),
})

/** Answers of `balance_of` to one request: `(pair (pair owner token_id) balance)`. */
export const balancesShapeOf = ({ owner, tokenId }: { readonly owner: string; readonly tokenId: string }) =>
  z
    .object({
      data: z.tuple([
        z.object({
          prim: z.literal('Pair'),
          args: z.tuple([
            z.object({
              prim: z.literal('Pair'),
              args: z.tuple([z.object({ string: z.literal(owner) }), z.object({ int: z.literal(tokenId) })]),
            }),
            z.object({ int: naturalShape }),
          ]),
        }),
      ]),
    })
    .transform(({ data: [{ args }] }) => BigInt(args[1].int))

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
