import { Address } from '@ton/core'
import type { Payment } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import type { Trace } from '../../../protocol/rules/rules.js'
import type { NetworkForms, OfflineScheme } from '../../../schemes/offlineScheme.js'
import { createOfflineScheme, listOffline } from '../../common/settling/exactScheme.js'
import { readAddress } from '../encoding/cells.js'
import { findFailedCheck } from '../exact/checks.js'
import {
  type DecodedPayment,
  decodePayment,
  describePayment,
  formatAuthorizationId,
  identityOf,
  readClaimedPayer,
  readExactProof,
} from '../exact/decode.js'
import { readPayment, toRefusal } from '../exact/prepare.js'
import { findFailedWalletCheck, isForOtherNetwork } from '../exact/stateChecks.js'
import { findKnownNetwork, type KnownNetwork, listOtherGlobalIds } from '../networks.js'
import { findWallet } from '../wallets/walletState.js'

/** Jetton master of test dollars, as t402 publishes it for its testnets; 6 decimals. */
const testDollars = 'kQD0GKBM8ZbryVk2aESmzfU6b9b_8era_IkvBSELujFZPsyy'

/** The relay wallet of the sandbox; no key of it is known. */
const relay = new Address(0, Buffer.from('5a4db0'.padStart(64, '0'), 'hex'))

// These are the defaults of TON_MIN_RELAY_NANOTON and its like, and of TON_EXPIRY_MARGIN_SECONDS.
const relayLimits = { least: 30_000_000n, most: 60_000_000n, mostUnreturned: 30_000_000n, mostForwarded: 1n }
const expiryMarginSeconds = 15

const createOfflineExact = (network: string, known: KnownNetwork): OfflineScheme => {
  const masters = [testDollars, ...known.tokens.map(({ asset }) => asset)]
  const otherGlobalIds = listOtherGlobalIds(known)
  const isOffered = (asset: Address) => masters.some((each) => readAddress(each)?.equals(asset) === true)
  const extra = { areFeesSponsored: true, responseDestination: relay.toRawString() }

  /** Null if nothing is wrong, as far as it can be known: only a state init binds a key to the payer's address. */
  const findWalletProblem = (decoded: DecodedPayment, trace: Trace | undefined): Reason | null => {
    const { message, request, isSponsored } = decoded
    if (message.init === null) {
      const isForeign = isForOtherNetwork(request, otherGlobalIds)
      const broken = isForeign ? 'invalid_exact_tvm_payload_wallet_id_mismatch' : null
      trace?.note('wallet_id', broken)
      return broken
    }
    // A deployed wallet is refused so, too.
    if (!isSponsored) {
      trace?.note('wallet_deployed', 'invalid_boc_format')
      return 'invalid_boc_format'
    }
    const finding = findWallet(undeployed, message)
    if ('refusedAs' in finding) {
      trace?.note('wallet', finding.refusedAs)
      return finding.refusedAs
    }
    return findFailedWalletCheck({ decoded, wallet: finding.wallet, otherGlobalIds }, trace)
  }

  const decode = ({ proof }: Pick<Payment, 'proof'>): DecodedPayment | null => {
    const reading = readExactProof(proof)
    if ('problem' in reading) return null
    const decoding = decodePayment(reading.proof)
    return 'decoded' in decoding ? decoding.decoded : null
  }

  return createOfflineScheme({
    network,
    signer: relay.toRawString(),
    forms,
    knownTokens: [
      { asset: readAddress(testDollars)?.toRawString() ?? testDollars, symbol: 'USDT', decimals: 6 },
      ...known.tokens,
    ],
    offered: {
      tokens: [{ asset: testDollars }],
      isOffered: (asset) => {
        const master = readAddress(asset)
        return master !== null && isOffered(master)
      },
      findDecimals: () => 6,
    },
    assetExtra: extra,
    extra,
    identify: (payment) => {
      const decoded = decode(payment)
      return decoded === null ? null : formatAuthorizationId(network, identityOf(decoded))
    },
    findPayer: (payment) =>
      (decode(payment)?.message.wallet ?? readClaimedPayer(payment.proof))?.toRawString() ?? null,
    read: async (payment, { now, isForSettle, trace }) => {
      const reading = readPayment(payment, isOffered, trace)
      if ('refused' in reading) return reading.refused
      const { decoded, asset } = reading
      const payer = decoded.message.wallet
      const candidate = {
        decoded,
        payment,
        asset,
        nowSeconds: Math.floor(now.getTime() / 1_000),
        marginSeconds: isForSettle ? expiryMarginSeconds : 0,
        relays: [relay],
        relayLimits,
      }
      const broken = findFailedCheck(candidate, trace) ?? findWalletProblem(decoded, trace)
      if (broken !== null) return toRefusal(payer, broken).refused
      return { ...describePayment(network, decoded), holds: false }
    },
  })
}

const undeployed = { state: 'uninitialized', code: null, data: null } as const

const forms: NetworkForms = {
  readAddress: (text) => readAddress(text)?.toRawString() ?? null,
  formatAddress: (bytes) => new Address(0, Buffer.from(bytes.subarray(0, 32))).toRawString(),
  formatTransaction: (bytes) => Buffer.from(bytes.subarray(0, 32)).toString('hex'),
  // A block in the masterchain is final.
  blocks: null,
}

export const listOfflineSchemes = listOffline('ton', findKnownNetwork, createOfflineExact)
