import { createPublicKey, type KeyObject, sign } from 'node:crypto'
import type { Secret } from '../../../platform/secret.js'
import type { Logger } from '../../../ports/logger.js'
import { encodeBase58 } from '../../common/base58.js'
import { readEd25519Seed } from '../../common/ed25519.js'
import {
  countSettlementsLeft,
  createSignerBalances,
  type SignerBalances,
} from '../../common/signerBalances.js'
import { readKeyBytes } from '../encoding/keys.js'
import { baseFee } from '../exact/instructions.js'
import type { Rpc } from '../rpc/rpc.js'

export interface FeePayers {
  readonly addresses: readonly string[]
  sign(address: string, message: Uint8Array): Uint8Array
}

const addressLength = 32

/** Throws, without printing the key, if its public half does not match its seed. */
export const createFeePayers = (privateKeys: readonly Secret[]): FeePayers => {
  const keys = new Map(privateKeys.map(openKey))
  return {
    addresses: [...keys.keys()],
    sign: (address, message) => {
      const key = keys.get(address)
      if (key === undefined) throw new Error('Not a fee payer of the facilitator')
      return sign(null, message, key)
    },
  }
}

const openKey = (secret: Secret, index: number): [string, KeyObject] => {
  const bytes = readKeyBytes(secret.reveal())
  const broken = new Error(`SOLANA_PRIVATE_KEY: key ${index + 1} does not match its public half`)
  if (bytes === null) throw broken
  const key = readEd25519Seed(bytes.subarray(0, addressLength))
  const derived = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-addressLength)
  if (!derived.equals(bytes.subarray(addressLength))) throw broken
  return [encodeBase58(derived), key]
}

interface FeePayerBalances extends Omit<SignerBalances, 'update'> {
  measure(): Promise<void>
}

// Minimum balance of an account without data.
const rentExemptLamports = 890_880n

export const createFeePayerBalances = (
  network: string,
  dependencies: {
    readonly rpc: Rpc
    readonly feePayers: FeePayers
    readonly maxPriorityFeeLamports: bigint
    readonly lowBalanceSettlements: number
    readonly logger: Logger
  },
): FeePayerBalances => {
  const { rpc, feePayers, maxPriorityFeeLamports, lowBalanceSettlements, logger } = dependencies
  const balances = createSignerBalances({ network, lowBalanceSettlements, logger })
  // The most expensive payment needs this much.
  const floor = rentExemptLamports + baseFee + maxPriorityFeeLamports
  return {
    ...balances,
    measure: async () => {
      const health = await Promise.all(
        feePayers.addresses.map(async (signer) => {
          const balance = await rpc.getBalance(signer)
          return { signer, balance, settlementsLeft: countSettlementsLeft(balance, { floor, cost: baseFee }) }
        }),
      )
      balances.update(health)
    },
  }
}
