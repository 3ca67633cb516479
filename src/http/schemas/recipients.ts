import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { ErrorCode } from '../../errors.js'
import {
  deletedRecipient,
  recipientDraft,
  recipientList,
  recipientMessage,
  recipientView,
  signedRecipient,
} from '../../protocol/recipients.js'
import { bodyErrors, describeErrors, jsonResponse, keyedErrors, storeErrors } from './responses.js'

const messageErrors = [...keyedErrors, ...bodyErrors] as const satisfies readonly ErrorCode[]
const stateErrors = [...messageErrors, 'SIGN_IN_FAILED'] as const satisfies readonly ErrorCode[]
const deleteErrors = [...keyedErrors, 'NOT_FOUND'] as const satisfies readonly ErrorCode[]

const draft = { network: 'near:mainnet', payTo: 'shop.near', claims: { signedClaim: true } }
const nonce = '6957d28c5f0c4a9e8b3f2d1c0a9b8e7f6957d28c5f0c4a9e8b3f2d1c0a9b8e7f'
const stated = {
  network: draft.network,
  payTo: draft.payTo,
  claims: { memo: false, signedClaim: true, uniqueAmount: false, ownKey: false },
  statedAt: '2026-01-01T00:00:00.000Z',
  isOverridden: false,
}
const message = [
  'api.example.com wants you to sign in with your near:mainnet account:',
  'shop.near',
  '',
  'Account 2f6f3c1e-6f0b-4a53-9b0e-0d6f7c9a1b11 states what claims on exact-direct payments to this wallet must ' +
    'show: a claim signed by the payer.',
  '',
  'URI: https://api.example.com/dashboard/recipients',
  'Version: 1',
  'Chain ID: near:mainnet',
  `Nonce: ${nonce}`,
  'Issued At: 2026-01-01T00:00:00.000Z',
  'Expiration Time: 2026-01-01T00:10:00.000Z',
].join('\n')

export const writeRecipientMessageSchema = {
  operationId: 'writeRecipientMessage',
  tags: ['Accounts'],
  summary: 'Message that proves a recipient',
  description:
    'The text that the wallet of `payTo` signs, so that this project can state what claims on `exact-direct` payments ' +
    'to it must show. Valid for ten minutes and once, and only for this project and these demands.',
  body: recipientDraft,
  response: {
    200: jsonResponse('The message to sign.', recipientMessage, {
      message: { value: { message, nonce, expirationTime: '2026-01-01T00:10:00.000Z' } },
    }),
    ...describeErrors(messageErrors),
  },
  'x-reference': {
    request: { signed: { value: draft } },
  },
} satisfies FastifySchema

export const stateRecipientSchema = {
  operationId: 'stateRecipient',
  tags: ['Accounts'],
  summary: 'State what claims must show',
  description:
    'States what every claim on an `exact-direct` payment to `payTo` must show, whichever caller makes it and whatever ' +
    'its request says. Proven by a signature of the wallet over the message of `POST /dashboard/recipients/message` ' +
    'for the same body. It replaces an earlier statement for the recipient, also one of another project.',
  body: signedRecipient,
  response: {
    200: jsonResponse('The statement.', recipientView, { stated: { value: stated } }),
    ...describeErrors(stateErrors),
  },
  'x-reference': {
    request: {
      signed: {
        value: {
          ...draft,
          nonce,
          signature: 'Vn0fZ…==',
          publicKey: 'ed25519:6E8sCci9badyRkXb3JoRpBj5p8C6Tw41ELDZoiihKEtp',
        },
      },
    },
  },
} satisfies FastifySchema

export const listRecipientsSchema = {
  operationId: 'listRecipients',
  tags: ['Accounts'],
  summary: 'Recipients of my project',
  description: 'What this project has stated about claims, oldest first.',
  response: {
    200: jsonResponse('The statements.', recipientList, { recipients: { value: { recipients: [stated] } } }),
    ...describeErrors(storeErrors),
  },
} satisfies FastifySchema

export const deleteRecipientSchema = {
  operationId: 'deleteRecipient',
  tags: ['Accounts'],
  summary: 'Delete a statement',
  description:
    'Deletes what this project has stated for the recipient. Claims on its payments then follow `EXACT_DIRECT_CLAIMS`.',
  querystring: z.strictObject({
    network: z
      .string()
      .min(1)
      .max(256)
      .meta({ examples: [draft.network] }),
    payTo: z
      .string()
      .min(1)
      .max(256)
      .meta({ examples: [draft.payTo] }),
  }),
  response: {
    200: jsonResponse('The statement is deleted.', deletedRecipient, {
      deleted: { value: { network: draft.network, payTo: draft.payTo, deleted: true } },
    }),
    ...describeErrors(deleteErrors),
  },
} satisfies FastifySchema
