import { isFields, type JsonObject } from '../../protocol/fields.js'
import { namespaceOf } from '../../protocol/network.js'
import type { ExtensionProblem, PaymentExtension } from '../extension.js'

const keys = ['siwx', 'sign-in-with-x'] as const

/** In characters of JSON; a declaration holds a schema of about 1 kB. */
const maxDeclarationLength = 16_384

/** Sign-in is between client and resource server: of a payment only the shape of the declaration, and of its copy, is checked. */
export const siwx: PaymentExtension = {
  keys,
  findProblem: ({ declaredExtensions, clientExtensions }) => {
    for (const key of keys) {
      const problem =
        findDeclarationProblem('requirements', key, declaredExtensions[key]) ??
        findDeclarationProblem('payload', key, clientExtensions[key])
      if (problem !== null) return problem
    }
    return null
  },
}

const findDeclarationProblem = (
  origin: ExtensionProblem['origin'],
  key: string,
  declaration: unknown,
): ExtensionProblem | null => {
  if (declaration === undefined) return null
  const blame = (path: string, message: string): ExtensionProblem => ({ origin, path, message })
  if (!isFields(declaration)) return blame(key, 'must be a JSON object')
  if (JSON.stringify(declaration).length > maxDeclarationLength) {
    return blame(key, `must have at most ${maxDeclarationLength} characters of JSON`)
  }
  return isFields(declaration.info) ? null : blame(`${key}.info`, 'must be a JSON object')
}

/** What one sign-in challenge says, before a wallet's address is known. */
interface SignInChallenge {
  readonly domain: string
  readonly uri: string
  readonly statement: string | null
  /** CAIP-2 identifiers; the first is the one of the t402 declaration. */
  readonly chains: readonly string[]
  readonly nonce: string
  readonly issuedAt: string
  readonly expirationTime: string
  readonly requestId: string | null
  readonly resources: readonly string[]
}

/** By the keys of the extensions. */
export interface SignInDeclarations {
  readonly siwx: JsonObject
  readonly 'sign-in-with-x'?: JsonObject
}

/** Entries of `extensions` for a 402 response: for clients of t402 and of x402. */
export const declareSignIn = (challenge: SignInChallenge): SignInDeclarations => {
  const { domain, uri, nonce, issuedAt, expirationTime, resources } = challenge
  const [chainId = ''] = challenge.chains
  const shared = {
    domain,
    uri,
    version: '1',
    nonce,
    issuedAt,
    expirationTime,
    resources,
    ...(challenge.statement === null ? {} : { statement: challenge.statement }),
    ...(challenge.requestId === null ? {} : { requestId: challenge.requestId }),
  }
  const supportedChains = challenge.chains.flatMap((chain) => {
    const type = signatureTypes[namespaceOf(chain)]
    return type === undefined ? [] : [{ chainId: chain, type }]
  })
  return {
    siwx: { info: { ...shared, chainId }, schema: t402Schema },
    // x402 has no text for other chains.
    ...(supportedChains.length === 0
      ? {}
      : { 'sign-in-with-x': { info: shared, supportedChains, schema: x402Schema } }),
  }
}

const signatureTypes: Readonly<Record<string, string>> = { eip155: 'eip191', solana: 'ed25519' }

const text = { type: 'string' }
const uriText = { type: 'string', format: 'uri' }
const timeText = { type: 'string', format: 'date-time' }

const required = ['domain', 'address', 'uri', 'version', 'chainId', 'nonce', 'issuedAt', 'signature']
const properties = {
  domain: text,
  address: text,
  statement: text,
  uri: text,
  version: text,
  chainId: text,
  nonce: text,
  issuedAt: timeText,
  expirationTime: timeText,
  notBefore: timeText,
  requestId: text,
  resources: { type: 'array', items: text },
  signature: text,
}

const t402Schema: JsonObject = { type: 'object', required, properties }

const x402Schema: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  required: [...required, 'type'],
  properties: { ...properties, uri: uriText, type: text, resources: { type: 'array', items: uriText } },
}
