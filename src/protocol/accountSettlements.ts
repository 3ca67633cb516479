import { z } from 'zod'
import { settlementView } from './results.js'

/** A settlement as the owner of the account sees it. */
export const accountSettlementView = settlementView
  .extend({
    fee: z.string().meta({
      description:
        "What the account owes for it by its tier's fee rate, in smallest units, exact to their fractions; `0` " +
        'unless it is confirmed. Never taken out of the payment',
      examples: ['10'],
    }),
  })
  .meta({ id: 'AccountSettlement' })

/** A settlement as the owner of the account is shown it. */
export type AccountSettlementView = z.infer<typeof accountSettlementView>

/** A page of an account's settlements. */
export const accountSettlementPage = z
  .object({
    settlements: z.array(accountSettlementView).meta({ description: 'The newest first' }),
    nextCursor: z.string().optional().meta({ description: 'For the next page; absent where there is none' }),
  })
  .meta({ id: 'AccountSettlementPage' })

/** A page of an account's settlements, as it is shown. */
export type AccountSettlementPage = z.infer<typeof accountSettlementPage>
