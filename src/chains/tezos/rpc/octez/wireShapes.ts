import { z } from 'zod'
import { blockHashShape, operationHashShape, statusShape, timeShape } from '../read.js'
import { naturalShape } from '../transferShape.js'

export const headerShape = z.object({
  chain_id: z.string(),
  hash: blockHashShape,
  level: z.int().nonnegative(),
  predecessor: blockHashShape,
  timestamp: timeShape,
})

/** They are those of the pass for manager operations, in the order of the block. */
export const operationHashesShape = z.array(operationHashShape)

const contentShape = z.object({
  kind: z.string(),
  metadata: z.object({ operation_result: z.object({ status: statusShape }) }),
  source: z.string().optional(),
  destination: z.string().optional(),
  parameters: z.object({ entrypoint: z.string(), value: z.unknown() }).optional(),
})

export const operationShape = z.object({
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
