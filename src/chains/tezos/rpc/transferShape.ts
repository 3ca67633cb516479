import { z } from 'zod'

export const naturalShape = z.string().regex(/^\d{1,78}$/)

/** The decoded parameter of `transfer` (TZIP-12), as a list of its entries. `natural`: how its numbers are read. */
export const transferShapeOf = (natural: z.ZodType<string>) =>
  z
    .array(
      z.object({
        from_: z.string(),
        txs: z.array(z.object({ to_: z.string(), token_id: natural, amount: natural })),
      }),
    )
    .transform((batches) =>
      batches.flatMap(({ from_, txs }) =>
        txs.map(({ to_, token_id, amount }) => ({
          from: from_,
          to: to_,
          tokenId: token_id,
          amount: BigInt(amount),
        })),
      ),
    )
