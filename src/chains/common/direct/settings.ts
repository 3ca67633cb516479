import { z } from 'zod'
import type { Secret } from '../../../platform/secret.js'
import { wholeNumber } from '../../../platform/wholeNumber.js'
import type { SettingsReading } from '../../chain.js'
import {
  apiKey,
  listFamilyVariables,
  listOf,
  nodeUrls,
  readFamilyVariables,
  smallestUnits,
  splitList,
} from '../familySettings.js'
import { completeTokenFacts, readTokenFacts, type TokenFacts } from '../tokens.js'

/** The asset in its bare form, as written by the operator or built in. */
export type DirectToken = TokenFacts

/** A network whose chain and tokens are built in. */
export interface KnownDirectNetwork {
  /** Suffix of its variables. */
  readonly name: string
  /** CAIP-2 reference. */
  readonly chainId: string
  /** Absent: false. */
  readonly isTestnet?: boolean
  readonly tokens: readonly DirectToken[]
}

export interface DirectNetworkSettings<Own = unknown> {
  /** CAIP-2 identifier. */
  readonly network: string
  readonly name: string
  readonly chainId: string
  /** False where the network is not built in. */
  readonly isTestnet: boolean
  /** Variables that name its endpoints, for messages. */
  readonly endpointVariables: readonly string[]
  readonly rpcUrls: readonly Secret[]
  readonly apiKey: Secret | null
  /** Variable that names its tokens, for messages. */
  readonly tokensVariable: string
  /** The only assets that are settled; the first is the default. */
  readonly tokens: readonly DirectToken[]
  /** Announced in `/supported`; they sign nothing. */
  readonly signers: readonly string[]
  readonly pollIntervalMs: number
  /** Values of the family's own variables. */
  readonly own: Own
}

export interface DirectSettings<Own = unknown> {
  readonly networks: readonly DirectNetworkSettings<Own>[]
  readonly rpcTimeoutMs: number
  /** How long `/verify` waits for a transaction that is not final. */
  readonly verifyWaitMs: number
  /** From this amount, in smallest units, a second endpoint must report the same transfer. */
  readonly crossCheckAmount: bigint
}

interface DirectFamily<Own extends z.ZodRawShape> {
  /** CAIP-2 namespace; in upper case the prefix of the variables. */
  readonly namespace: string
  readonly networks: readonly KnownDirectNetwork[]
  /** Form of a CAIP-2 reference. */
  readonly chainIdForm: RegExp
  /** Bare form of an asset, as operators write it. */
  readonly assetForm: RegExp
  readonly exampleAsset: string
  /** Form of an address; absent: the network announces no signers. */
  readonly signerForm?: RegExp
  /** Whether its public APIs take a key. */
  readonly hasApiKey?: boolean
  readonly defaultPollIntervalMs: number
  readonly defaultCrossCheckAmount: bigint
  /** More variables of a network, by name without prefix and suffix, such as `PREFIX`. */
  readonly own: Own
  /** The one of them that lists endpoints of another kind: they suffice without `RPC_URL`. */
  readonly otherUrl?: string
}

const maxTokens = 20

/** Networks on which we only read have the same variables in every family. */
export const defineDirectSettings = <Own extends z.ZodRawShape>(family: DirectFamily<Own>) => {
  const { namespace, signerForm } = family
  const prefix = `${namespace.toUpperCase()}_`
  const shape = z.object({
    RPC_URL: nodeUrls.optional(),
    TOKENS: tokensOf(family).optional(),
    POLL_INTERVAL_MS: wholeNumber(10, 60_000).default(family.defaultPollIntervalMs),
    CHAIN_ID: z.string().regex(family.chainIdForm, 'must be the reference of a CAIP-2 identifier').optional(),
    API_KEY: apiKey.optional(),
    SIGNER: signersOf(signerForm ?? /^$/).optional(),
  })
  const ownShape = z.object(family.own)
  const urlVariables = ['RPC_URL', ...(family.otherUrl === undefined ? [] : [family.otherUrl])]
  const isOffered = (name: string) =>
    name === 'API_KEY' ? family.hasApiKey === true : name !== 'SIGNER' || signerForm !== undefined
  const names = [...Object.keys(shape.shape), ...Object.keys(family.own)].filter(isOffered)
  const variables = {
    prefix,
    omitsPrefix: true,
    family: {
      RPC_TIMEOUT_MS: wholeNumber(100, 60_000).default(5_000),
      VERIFY_WAIT_MS: wholeNumber(0, 5_000).default(3_000),
      CROSS_CHECK_AMOUNT: smallestUnits(39).default(family.defaultCrossCheckAmount),
    },
    perNetwork: Object.fromEntries(names.map((name) => [name, z.string().optional()])),
    networkId: { form: /[a-z0-9]{1,32}/, label: 'network', example: family.networks[0]?.name ?? 'mainnet' },
  }

  /** Null settings: the network has no endpoint. */
  const readNetwork = (
    name: string,
    given: Readonly<Record<string, unknown>>,
  ): NetworkReading<z.infer<typeof ownShape>> => {
    const shared = shape.safeParse(given)
    const own = ownShape.safeParse(given)
    const issues = [...(shared.error?.issues ?? []), ...(own.error?.issues ?? [])]
    if (!shared.success || !own.success) {
      return {
        problems: issues.map(({ path, message }) => `${prefix}${String(path[0])}_${name}: ${message}`),
      }
    }
    const { RPC_URL, TOKENS, CHAIN_ID, API_KEY = null, SIGNER = [], POLL_INTERVAL_MS } = shared.data
    const hasOtherUrl = family.otherUrl !== undefined && given[family.otherUrl] !== undefined
    const rpcUrls = RPC_URL ?? (hasOtherUrl ? [] : undefined)
    if (rpcUrls === undefined) return { settings: null }
    const known = family.networks.find((each) => each.name === name)
    const chainId = CHAIN_ID ?? known?.chainId
    if (chainId === undefined) {
      return { problems: [`${prefix}CHAIN_ID_${name}: is required, because ${name} is not built in`] }
    }
    const tokens = TOKENS ?? known?.tokens ?? []
    if (tokens.length === 0) {
      return { problems: [`${prefix}TOKENS_${name}: is required, because no token of ${name} is built in`] }
    }
    return {
      settings: {
        network: `${namespace}:${chainId}`,
        name,
        chainId,
        isTestnet: family.networks.some((each) => each.chainId === chainId && each.isTestnet === true),
        endpointVariables: urlVariables
          .filter((variable) => given[variable] !== undefined)
          .map((variable) => `${prefix}${variable}_${name}`),
        rpcUrls,
        apiKey: API_KEY,
        tokensVariable: `${prefix}TOKENS_${name}`,
        tokens: tokens.map((token) => completeTokenFacts(token, known?.tokens ?? [])),
        signers: SIGNER,
        pollIntervalMs: POLL_INTERVAL_MS,
        own: own.data,
      },
    }
  }

  return {
    variables: listFamilyVariables(variables),
    read: (
      environment: Readonly<Record<string, string>>,
    ): SettingsReading<DirectSettings<z.infer<typeof ownShape>>> => {
      const reading = readFamilyVariables(variables, environment)
      if ('problems' in reading) return reading
      const readings = [...reading.networks].map(([name, given]) => readNetwork(name, given))
      const networks = readings.flatMap((each) =>
        'settings' in each && each.settings !== null ? [each.settings] : [],
      )
      const twice = findTwice(networks.map(({ network }) => network))
      const problems = [
        ...readings.flatMap((each) => ('problems' in each ? each.problems : [])),
        ...(twice === null ? [] : [`${prefix}CHAIN_ID: ${twice} is configured twice`]),
      ]
      if (problems.length > 0) return { problems }
      if (networks.length === 0) return { settings: null }
      const { RPC_TIMEOUT_MS, VERIFY_WAIT_MS, CROSS_CHECK_AMOUNT } = reading.family
      return {
        settings: {
          networks,
          rpcTimeoutMs: RPC_TIMEOUT_MS,
          verifyWaitMs: VERIFY_WAIT_MS,
          crossCheckAmount: CROSS_CHECK_AMOUNT,
        },
      }
    },
  }
}

type NetworkReading<Own> =
  | { readonly problems: readonly string[] }
  | { readonly settings: DirectNetworkSettings<Own> | null }

/** Each entry: an asset, optionally with `=SYMBOL/decimals`. No wildcard: a token of an attacker reports any transfer. */
const tokensOf = ({
  assetForm,
  exampleAsset,
}: {
  readonly assetForm: RegExp
  readonly exampleAsset: string
}) =>
  z.string().transform((text, context): readonly DirectToken[] => {
    const parts = splitList(text)
    const tokens = parts.map((part) => readToken(part, assetForm))
    if (parts.length > 0 && parts.length <= maxTokens && tokens.every((token) => token !== null))
      return tokens
    context.addIssue({
      code: 'custom',
      message: `must list at most ${maxTokens} tokens such as ${exampleAsset} or ${exampleAsset}=USDT/6, comma separated`,
    })
    return z.NEVER
  })

const readToken = (text: string, assetForm: RegExp): DirectToken | null => {
  const token = readTokenFacts(text)
  return token.asset.length > 200 || !assetForm.test(token.asset) ? null : token
}

const signersOf = (form: RegExp) =>
  listOf((signer) => form.test(signer), 'must list addresses of the network, comma separated')

const findTwice = (names: readonly string[]): string | null =>
  names.find((name, index) => names.indexOf(name) !== index) ?? null
