import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { ErrorCode } from '../../errors.js'
import { bodyLimits } from '../../protocol/requestLimits.js'
import {
  chainForm,
  domainForm,
  maxResources,
  maxSignInAgeSeconds,
  maxStatementLength,
  maxUriLength,
  nonceForm,
  signatureSchemes,
} from '../../protocol/siwx.js'
import { bodyErrors, describeErrors, jsonResponse } from './responses.js'

const sharedErrors = [
  'INVALID_REQUEST',
  ...bodyErrors,
  'RATE_LIMITED',
  'INTERNAL_ERROR',
] as const satisfies readonly ErrorCode[]
const verifyErrors = [...sharedErrors, 'SIGN_IN_FAILED', 'SERVICE_UNAVAILABLE'] as const

const maxLifetimeSeconds = 3_600

const uri = z
  .string()
  .min(1)
  .max(maxUriLength)
  .meta({ description: 'Absolute URL of the resource', examples: ['https://api.example.com/premium'] })
const domain = z
  .string()
  .max(255)
  .regex(domainForm)
  .meta({ description: 'Host, with a port unless it is the default; default: that of `uri`' })
const chain = z
  .string()
  .regex(chainForm)
  .meta({ description: 'CAIP-2 identifier', examples: ['eip155:8453'] })
const nonce = z.string().regex(nonceForm)
const resources = z.array(uri).max(maxResources)
const chains = z.array(chain).min(1).max(20)
const time = z.string().meta({ description: 'ISO 8601', examples: ['2026-01-01T00:00:00.000Z'] })

const declaration = z.record(z.string(), z.unknown())

const nonceIssued = z
  .object({
    nonce,
    issuedAt: time,
    expirationTime: time,
    domain: z.string().optional(),
    uri: z.string().optional(),
    extensions: z
      .object({ siwx: declaration, 'sign-in-with-x': declaration.optional() })
      .optional()
      .meta({ description: 'For `extensions` of a 402 response: the declarations of t402 and of x402' }),
  })
  .meta({ id: 'SignInNonce' })

const signedIn = z
  .object({
    isValid: z.literal(true),
    address: z.string().meta({ description: "In the chain's canonical form: EIP-55 on EVM chains" }),
    chainId: z.string(),
    account: z.string().meta({ description: 'CAIP-10' }),
    domain: z.string(),
    uri: z.string(),
    nonce: z.string(),
    issuedAt: z.string(),
    expirationTime: z.string().optional(),
    requestId: z.string().optional(),
    statement: z.string().optional(),
    resources: z.array(z.string()).readonly(),
    signatureScheme: z.enum(signatureSchemes).meta({ description: 'Found by verification, not as stated' }),
  })
  .meta({ id: 'SignIn' })

const nonceExample = `6957d28c${'5f'.repeat(28)}`
const challenge = {
  nonce: nonceExample,
  issuedAt: '2026-01-01T00:00:00.000Z',
  expirationTime: '2026-01-01T00:05:00.000Z',
}
const page = { domain: 'api.example.com', uri: 'https://api.example.com/premium' }
const info = { ...page, version: '1', ...challenge, resources: [page.uri] }

export const issueNonceSchema = {
  operationId: 'issueSignInNonce',
  tags: ['Sign-in'],
  summary: 'Issue a nonce for a wallet sign-in',
  description:
    'Stores nothing: the nonce itself holds its expiry and who issued it. With `uri` and at least one chain the ' +
    'response has the complete declarations of the extensions `siwx` (t402) and `sign-in-with-x` (x402) for a 402 ' +
    'response. With `domain` or `uri` the nonce is valid for that domain only.',
  body: z
    .object({
      domain: domain.optional(),
      uri: uri.optional(),
      chainId: chain.optional(),
      chains: chains.optional(),
      statement: z.string().min(1).max(maxStatementLength).optional(),
      expiresInSeconds: z
        .int()
        .min(1)
        .max(maxLifetimeSeconds)
        .optional()
        .meta({ description: 'Default 300' }),
      resources: resources.optional().meta({ description: 'Default: `uri`' }),
      requestId: z.string().min(1).max(256).optional(),
    })
    .nullish(),
  response: {
    200: jsonResponse('The nonce and its declarations.', nonceIssued, {
      nonce: { value: challenge },
      declarations: {
        value: {
          ...challenge,
          ...page,
          extensions: {
            siwx: { info: { ...info, chainId: 'eip155:8453' }, schema: { type: 'object' } },
            'sign-in-with-x': {
              info,
              supportedChains: [{ chainId: 'eip155:8453', type: 'eip191' }],
              schema: { type: 'object' },
            },
          },
        },
      },
    }),
    ...describeErrors(sharedErrors),
  },
  'x-reference': {
    request: {
      nonce: { value: {} },
      declarations: { value: { uri: page.uri, chains: ['eip155:8453'] } },
    },
  },
} satisfies FastifySchema

const header = Buffer.from(JSON.stringify({ ...info, address: '0x18f7…', signature: '0x…' })).toString(
  'base64',
)

export const verifySignInSchema = {
  operationId: 'verifySignIn',
  tags: ['Sign-in'],
  summary: 'Verify a wallet sign-in',
  description: [
    'Checks the message of the header `SIGN-IN-WITH-X` (x402) or `X-T402-SIWx` (t402) against what the resource server ' +
      'expects, then the signature, and then uses up the nonce: a proof is accepted once, by all instances together. ' +
      'Every refusal is 401 with a `reason`; answer your client with 401.',
    'Wallets of EVM chains (keys, and contracts on networks of this instance), Solana and Stellar are verified.',
  ].join('\n\n'),
  body: z.object({
    header: z.string().optional().meta({ description: 'Value of the request header; or `proof`' }),
    proof: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'The decoded header, instead of `header`' }),
    uri,
    domain: domain.optional(),
    chainId: chain.optional(),
    chains: chains.optional().meta({ description: 'Accepted chains; default: any' }),
    resources: resources.optional().meta({ description: 'That the message must list; default: none' }),
    nonce: nonce.optional().meta({ description: 'The nonce that you gave this client; default: any' }),
    maxAgeSeconds: z
      .int()
      .min(1)
      .max(maxSignInAgeSeconds)
      .optional()
      .meta({ description: 'Age of `issuedAt`; default 300' }),
    requireIssuedNonce: z
      .boolean()
      .optional()
      .meta({ description: 'Only nonces of `POST /v1/siwx/nonce`; default false' }),
  }),
  response: {
    200: jsonResponse('The wallet signed in.', signedIn, {
      signedIn: {
        value: {
          isValid: true,
          address: '0x18f77dd01186556F1F745E7847A4686421dEE072',
          chainId: 'eip155:8453',
          account: 'eip155:8453:0x18f77dd01186556F1F745E7847A4686421dEE072',
          ...page,
          ...challenge,
          resources: [page.uri],
          signatureScheme: 'eip191',
        },
      },
    }),
    ...describeErrors(verifyErrors, bodyLimits.signIn),
  },
  'x-reference': {
    request: { header: { value: { header, uri: page.uri, chains: ['eip155:8453'] } } },
  },
} satisfies FastifySchema
