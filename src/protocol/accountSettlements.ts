import { z } from 'zod'
import { nextCursor } from './page.js'
import { settlementView } from './results.js'

export const accountSettlementView = settlementView
  .extend({
    fee: z.string().meta({
      description:
        "Fee of the settlement at the tier's fee rate: a whole number of smallest units, rounded up; `0` " +
        'unless confirmed. Not deducted from the payment',
      examples: ['10'],
    }),
  })
  .meta({ id: 'AccountSettlement' })

export type AccountSettlementView = z.infer<typeof accountSettlementView>

export const accountSettlementPage = z
  .object({
    settlements: z.array(accountSettlementView).meta({ description: 'Newest first' }),
    nextCursor,
  })
  .meta({ id: 'AccountSettlementPage' })

export type AccountSettlementPage = z.infer<typeof accountSettlementPage>
