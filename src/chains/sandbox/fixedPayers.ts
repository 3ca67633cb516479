import type { ScenarioScript } from '../../ports/sandbox.js'
import type { Reason } from '../../protocol/reasons.js'
import type { NetworkForms } from '../../schemes/offlineScheme.js'

/** What happens to the payments of a fixed payer. */
export interface FixedScript extends ScenarioScript {
  /** Null: /settle sends the payment; else it refuses it before anything is sent. */
  readonly settleRefusal: Reason | null
  /** How long /verify and /settle take, each. */
  readonly delayMs: number
}

interface FixedResult {
  readonly meaning: string
  /** Last three bytes of the address, in hex; all others are 0. */
  readonly suffix: string
  /** Start of the address in base58, whose digits read as the meaning. */
  readonly base58: string
  createScript(reasons: ReturnType<typeof reasonsOf>): FixedScript
}

const settles: FixedScript = {
  verifyRefusal: null,
  settleRefusal: null,
  settle: { failure: null, pendingSeconds: 0 },
  reorg: null,
  delayMs: 0,
}

const pendingSeconds = 60
const delayMs = 2_000

const results: readonly FixedResult[] = [
  {
    meaning: '/verify accepts it, and /settle confirms it at once',
    suffix: 'cafe01',
    base58: 'SandboxVerifyok',
    createScript: () => settles,
  },
  {
    meaning: 'The signature is invalid',
    suffix: 'cafe02',
    base58: 'SandboxBadSignature',
    createScript: ({ invalidSignature }) => ({ ...settles, verifyRefusal: invalidSignature }),
  },
  {
    meaning: 'The authorization has expired',
    suffix: 'cafe03',
    base58: 'SandboxExpired',
    createScript: ({ expired }) => ({ ...settles, verifyRefusal: expired }),
  },
  {
    meaning: '/settle confirms it at once',
    suffix: 'cafe11',
    base58: 'SandboxPaid',
    createScript: () => settles,
  },
  {
    meaning: '/verify accepts it, and /settle finds that the balance is gone',
    suffix: 'cafe12',
    base58: 'SandboxNoFunds',
    createScript: ({ insufficientFunds }) => ({ ...settles, settleRefusal: insufficientFunds }),
  },
  {
    meaning: `/settle answers settlement_pending, and ${pendingSeconds} s later it is confirmed`,
    suffix: 'cafe13',
    base58: 'SandboxPending',
    createScript: () => ({ ...settles, settle: { failure: null, pendingSeconds } }),
  },
  {
    meaning: '/verify and /settle each take 2 s, and succeed',
    suffix: 'cafe99',
    base58: 'SandboxWaitsTwoSeconds',
    createScript: () => ({ ...settles, delayMs }),
  },
]

export interface FixedPayer {
  /** The same on every network, such as `CAFE11`. */
  readonly name: string
  readonly address: string
  readonly meaning: string
  readonly script: FixedScript
}

/** In the order of their results. */
export const listFixedPayers = (
  namespace: string,
  scheme: string,
  forms: Pick<NetworkForms, 'readAddress'>,
): readonly FixedPayer[] =>
  results.map(({ meaning, suffix, base58, createScript }) => ({
    name: suffix.toUpperCase(),
    address: createAddress(namespace, { suffix, base58 }, forms),
    meaning,
    script: createScript(reasonsOf(namespace, scheme)),
  }))

/** Recipient of the requests that are ready to send; no key of it is known. */
export const createRecipient = (namespace: string, forms: Pick<NetworkForms, 'readAddress'>): string =>
  createAddress(namespace, { suffix: 'cafeff', base58: 'SandboxMerchant' }, forms)

const createAddress = (
  namespace: string,
  { suffix, base58 }: Pick<FixedResult, 'suffix' | 'base58'>,
  { readAddress }: Pick<NetworkForms, 'readAddress'>,
): string => {
  const text = addressTexts[namespace]?.({ suffix, base58 })
  const address = text === undefined ? null : readAddress(text)
  if (address === null) throw new Error(`The sandbox has no fixed payers on ${namespace}`)
  return address
}

const addressTexts: Readonly<Record<string, (result: Pick<FixedResult, 'suffix' | 'base58'>) => string>> = {
  eip155: ({ suffix }) => `0x${suffix.padStart(40, '0')}`,
  // 43 digits with this start are 32 bytes.
  solana: ({ base58 }) => base58.padEnd(43, '1'),
  ton: ({ suffix }) => `0:${suffix.padStart(64, '0')}`,
  tron: ({ suffix }) => `41${suffix.padStart(40, '0')}`,
}

interface FixedReasons {
  readonly invalidSignature: Reason
  readonly expired: Reason
  readonly insufficientFunds: Reason
}

const eip3009: FixedReasons = {
  invalidSignature: 'invalid_exact_evm_payload_signature',
  expired: 'invalid_exact_evm_payload_authorization_valid_before',
  insufficientFunds: 'insufficient_funds',
}

const permit: FixedReasons = {
  invalidSignature: 'invalid_permit_signature',
  expired: 'permit_expired',
  insufficientFunds: 'insufficient_funds',
}

const byNamespace: Readonly<Record<string, FixedReasons>> = {
  solana: {
    invalidSignature: 'invalid_exact_svm_payload_signature_invalid',
    expired: 'settle_exact_svm_block_height_exceeded',
    insufficientFunds: 'insufficient_funds',
  },
  ton: {
    invalidSignature: 'message_verification_failed',
    expired: 'authorization_expired',
    insufficientFunds: 'insufficient_jetton_balance',
  },
  tron: {
    invalidSignature: 'invalid_exact_tron_signature',
    expired: 'authorization_expired',
    insufficientFunds: 'insufficient_balance',
  },
}

/** The reasons for which the family refuses such a payment. */
const reasonsOf = (namespace: string, scheme: string): FixedReasons =>
  byNamespace[namespace] ?? (scheme === 'upto' ? permit : eip3009)
