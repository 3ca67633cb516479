import { z } from 'zod'

/** What claims on payments to a recipient must show, as `exact-direct` settles them. */
export interface ClaimDemands {
  /** The requirements carry the preimage of the transfer's memo. */
  readonly memo: boolean
  /** `payload.claim`, signed by the payer. */
  readonly signedClaim: boolean
  /** The amount that `POST /accepts` issued for this offer, exactly. */
  readonly uniqueAmount: boolean
  /** The API key of the account that stated it. */
  readonly ownKey: boolean
}

/** What a payment itself must show; `ownKey` is the caller's. */
export interface PaymentDemands extends Pick<ClaimDemands, 'memo' | 'signedClaim'> {
  /** Paid is exactly the amount, in no block before this time; null: at least the amount. */
  readonly exactSince: Date | null
}

/** Who may claim payments to recipients that have stated nothing. `keyed`: every caller with an API key. */
export type ClaimPolicy = 'keyed' | 'open'

/** A recipient of the operator's configuration. */
export interface ConfiguredRecipient {
  /** CAIP-2 identifier. */
  readonly network: string
  readonly payTo: string
  readonly demands: ClaimDemands
  /** The account whose keys claim (`ownKey`) and issue amounts (`uniqueAmount`); null without both. */
  readonly accountId: string | null
}

const maxTextLength = 256

const claimDemands = z
  .strictObject({
    memo: z
      .boolean()
      .optional()
      .meta({
        description:
          'The transfer must carry the first 32 hex digits of the SHA-256 of `extra.memoPreimage`, which the ' +
          'requirements must name; `POST /accepts` issues it with `extra.memo`',
      }),
    signedClaim: z
      .boolean()
      .optional()
      .meta({ description: '`payload.claim`, signed by the payer, as under `extra.requireSignedClaim`' }),
    uniqueAmount: z
      .boolean()
      .optional()
      .meta({
        description:
          'The requirements must name `extra.offer` and the amount as `POST /accepts` issued them to this project, and ' +
          'the transfer must be of exactly that amount',
      }),
    ownKey: z.boolean().optional().meta({ description: 'Only API keys of this project can claim' }),
  })
  .meta({
    id: 'ClaimDemands',
    description: 'What every claim on a payment to the recipient must show; at least one is true',
  })

export const recipientDraft = z.object({
  network: z
    .string()
    .min(1)
    .max(maxTextLength)
    .meta({ examples: ['near:mainnet'] }),
  payTo: z
    .string()
    .min(1)
    .max(maxTextLength)
    .meta({ examples: ['shop.near'] }),
  claims: claimDemands,
})
export type RecipientDraft = z.infer<typeof recipientDraft>

export const signedRecipient = recipientDraft.extend({
  nonce: z.string().max(128).meta({ description: 'Of `POST /dashboard/recipients/message`' }),
  signature: z.string().min(1).max(1_024).meta({
    description: "Of the message, by the recipient's wallet, encoded as in a signed claim of the network",
  }),
  publicKey: z
    .string()
    .max(1_024)
    .optional()
    .meta({ description: 'Where a signed claim of the network needs one' }),
})
export type SignedRecipient = z.infer<typeof signedRecipient>

export const recipientMessage = z.object({
  message: z.string().meta({ description: 'CAIP-122 text for the wallet of `payTo`' }),
  nonce: z.string(),
  expirationTime: z.iso.datetime(),
})
export type RecipientMessage = z.infer<typeof recipientMessage>

export const recipientView = z
  .object({
    network: z.string().meta({ description: 'CAIP-2 identifier' }),
    payTo: z.string().meta({ description: "In the network's normal form" }),
    claims: z.object({
      memo: z.boolean(),
      signedClaim: z.boolean(),
      uniqueAmount: z.boolean(),
      ownKey: z.boolean(),
    }),
    statedAt: z.iso.datetime(),
    isOverridden: z.boolean().meta({
      description: "True: the operator's configuration states other demands for the recipient, which apply",
    }),
  })
  .meta({ id: 'Recipient' })
export type RecipientView = z.infer<typeof recipientView>

export const recipientList = z.object({ recipients: z.array(recipientView) })
export type RecipientList = z.infer<typeof recipientList>

export const deletedRecipient = z.object({
  network: z.string(),
  payTo: z.string(),
  deleted: z.literal(true),
})
export type DeletedRecipient = z.infer<typeof deletedRecipient>
