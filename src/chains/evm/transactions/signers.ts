import type { Hex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { Secret } from '../../../platform/secret.js'
import type { Logger } from '../../../ports/logger.js'
import { createSignerBalances, type SignerBalances } from '../../common/signerBalances.js'
import { isSameAddress } from '../abi/address.js'
import type { Rpc } from '../rpc/rpc.js'
import { type FeeReading, highestGasPrice } from './fees/fees.js'
import type { SettlementCall } from './settlementCall.js'

/** Our accounts, which are the same on every EVM network. */
export interface Signers {
  readonly addresses: readonly Hex[]
  readonly accounts: readonly PrivateKeyAccount[]
  /** A funded sender for a call, or null. Deterministic: a call is simulated and sent by the same account. */
  choose(call: Pick<SettlementCall, 'id' | 'sender' | 'gasCap'>, funds: SignerFunds): PrivateKeyAccount | null
}

export interface SignerFunds {
  /** Whether it has the balance that is kept for settlements. */
  canPay(signer: Hex): boolean
  /** Whether it can pay for so much gas, which of a call of many parts is more. Absent: every signer can. */
  canAfford?(signer: Hex, gas: bigint): boolean
}

/** Errors never contain a key. */
export const createSigners = (privateKeys: readonly Secret[]): Signers => {
  const accounts = privateKeys.map((key, index) => {
    try {
      return privateKeyToAccount(`0x${key.reveal().slice(2)}`)
    } catch {
      throw new Error(`EVM_PRIVATE_KEY: key ${index + 1} is not a valid secp256k1 key`)
    }
  })
  return {
    addresses: accounts.map(({ address }) => address),
    accounts,
    choose: ({ id, sender, gasCap }, { canPay, canAfford = () => true }) => {
      const funded = accounts.filter(
        ({ address }) => (sender === null || isSameAddress(address, sender)) && canPay(address),
      )
      const rich = funded.filter(({ address }) => canAfford(address, gasCap))
      // Without one the node says what is missing.
      const able = rich.length > 0 ? rich : funded
      return able[able.length < 2 ? 0 : hash(id) % able.length] ?? null
    },
  }
}

/** FNV-1a of 32 bits spreads calls over accounts. */
const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  return value >>> 0
}

export interface GasBalances extends Omit<SignerBalances, 'note'> {
  measure(reading: FeeReading): Promise<void>
  /** As in `SignerFunds`, at the price of the last measurement. */
  canAfford(signer: string, gas: bigint): boolean
}

// A payment by ECDSA to a new recipient in Circle's USDC; most others are cheaper.
export const typicalGas = 103_000n

/** Before the first measurement no signer counts as funded. */
export const createGasBalances = (
  network: string,
  {
    rpc,
    signers,
    gasPerSettlement,
    lowBalanceSettlements,
    logger,
  }: {
    readonly rpc: Rpc
    readonly signers: Signers
    /** Nodes reject simulations and transactions if the sender cannot pay this gas at the full price. */
    readonly gasPerSettlement: bigint
    readonly lowBalanceSettlements: number
    readonly logger: Logger
  },
): GasBalances => {
  const balances = createSignerBalances({ network, lowBalanceSettlements, logger })
  let highestPrice = 0n
  return {
    ...balances,
    canAfford: (signer, gas) =>
      balances.list().some((each) => each.signer === signer && each.balance >= gas * highestPrice),
    measure: async ({ fees, price }) => {
      highestPrice = fees === null ? price : highestGasPrice(fees)
      const floor = gasPerSettlement * highestPrice
      const health = await Promise.all(
        signers.addresses.map(async (signer) => {
          const balance = await rpc.getBalance(signer)
          return { signer, balance, settlementsLeft: countSettlementsLeft(balance, { floor, price }) }
        }),
      )
      balances.update(health)
    },
  }
}

/** How many settlements at a price per gas a balance pays for, all in wei; none below the floor. */
export const countSettlementsLeft = (
  balance: bigint,
  { floor, price }: { readonly floor: bigint; readonly price: bigint },
): number => {
  if (balance < floor) return 0
  // Free gas must not divide by zero.
  const cost = typicalGas * (price > 0n ? price : 1n)
  return Number((balance - floor) / cost) + 1
}
