import type { Hex } from 'viem'
import { isFields } from '../../../protocol/fields.js'
import { type Payment, statedByNone } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import type { ChannelCare } from '../../../schemes/channelCare.js'
import { readAddress } from '../abi/address.js'
import { asHex, smaller } from '../abi/words.js'
import { tryCall } from '../rpc/rpc.js'
import { createAnnouncements } from './announcements.js'
import { decodeTogether, encodeTogether, settlementAddress, type VoucherClaim } from './contract.js'
import { maxClaims, type Voucher } from './payload.js'
import type { ChannelDependencies, SchemeDependencies } from './prepared.js'
import { isZero } from './signatures.js'
import { decodeReceiver, decodeStates, planReceiverRead, planStateRead } from './states.js'

/* What keeps, claims and pays out vouchers of channels that this facilitator signs for, without a request. */

/** Stores a voucher of a delegated channel before it is answered as valid; throws if it may not be stored. */
export type KeepVoucher = (
  voucher: Voucher,
  terms: { readonly caller: string | null; readonly price: bigint },
) => Promise<void>

export const createKeepVoucher =
  ({
    network,
    custody,
    channelLedger: ledger,
    clock,
  }: Pick<ChannelDependencies, 'network' | 'custody' | 'channelLedger' | 'clock'>): KeepVoucher =>
  async ({ config, channelId, maxClaimable, signature }, { caller, price }) => {
    if (ledger === null || caller === null || !custody.isDelegated(config)) return
    await ledger.keep(
      {
        network: network.network,
        channelId,
        accountId: caller,
        config: { ...config },
        receiver: config.receiver,
        token: config.token,
        ceiling: maxClaimable,
        signature,
        price,
      },
      clock.now(),
    )
  }

/**
 * The row that a refund must not leave behind: what vouchers that are kept here show to be charged, above what the request claims.
 * Null: the request claims as much.
 */
export const findKeptClaim = async (
  { network, custody, channelLedger }: Pick<ChannelDependencies, 'network' | 'custody' | 'channelLedger'>,
  { config, channelId }: Pick<Voucher, 'config' | 'channelId'>,
  { balance, claimed }: { readonly balance: bigint; readonly claimed: bigint },
): Promise<VoucherClaim | null> => {
  if (channelLedger === null || !custody.isDelegated(config)) return null
  const kept = await channelLedger.find({ network: network.network, channelId })
  const isVoid = kept?.unclaimable != null && kept.ceiling <= kept.unclaimable
  if (kept === null || isVoid) return null
  const totalClaimed = smaller(kept.charged, balance)
  if (totalClaimed <= claimed) return null
  return { config, maxClaimable: kept.ceiling, signature: asHex(kept.signature), totalClaimed }
}

/** A row of many takes about a quarter of the gas of a usual settlement, which the published minimum is worth. */
const rowsPerSettlement = 4n

const rowFaults: ReadonlySet<Reason> = new Set([
  'invalid_batch_settlement_evm_claim_simulation_failed',
  'invalid_batch_settlement_evm_claim_transaction_failed',
  'invalid_batch_settlement_evm_authorizer_address_mismatch',
  'invalid_batch_settlement_evm_claim_payload',
  'gas_limit_exceeded',
  'unsupported_asset',
])

export const createChannelCare = ({
  family,
  network,
  opened,
  rpc,
  custody,
}: Pick<SchemeDependencies, 'family' | 'network' | 'opened' | 'rpc' | 'custody'>): ChannelCare => {
  const write = (
    { receiver: payTo, token: asset }: { readonly receiver: string; readonly token: string },
    proof: Payment['proof'],
  ): Payment => ({
    version: 2,
    callerNetwork: network.network,
    requirements: {
      scheme: 'batch-settlement',
      network: network.network,
      amount: 0n,
      minAmount: null,
      asset,
      payTo,
      maxTimeoutSeconds: 0,
      extra: {},
    },
    proof,
    ...statedByNone,
  })

  return {
    rules: family.channelCare,
    maxRows: maxClaims,
    canSign: (receiverAuthorizer) => {
      const address = readAddress(receiverAuthorizer)
      return address !== null && custody.isDelegated({ receiverAuthorizer: address })
    },
    readChannels: async (channelIds) => {
      const ids = channelIds.map(asHex)
      const states = decodeStates(await tryCall(rpc, planStateRead(...ids)), ids.length)
      return (
        states?.flatMap((state, index) => {
          const channelId = ids[index]
          return channelId === undefined ? [] : [{ channelId, ...state }]
        }) ?? null
      )
    },
    ...createAnnouncements(network.network, rpc),
    readUnswept: async (receivers) => {
      const reads = receivers.map(
        ({ receiver, token }) => planReceiverRead(asHex(receiver), asHex(token)).data,
      )
      const data = encodeTogether(reads)
      const answers = decodeTogether(await tryCall(rpc, { to: settlementAddress, data }))
      const amounts = answers?.map((answer: Hex) => {
        const totals = decodeReceiver(answer)
        return totals === null ? null : totals.totalClaimed - totals.totalSettled
      })
      const known = amounts?.filter((each) => each !== null)
      return known?.length === receivers.length ? known : null
    },
    findRowCost: (token) => {
      const asset = readAddress(token)
      const minimum = asset === null ? undefined : opened.listMinimums()[asset]
      return minimum === undefined ? null : BigInt(minimum) / rowsPerSettlement
    },
    listRowCosts: () =>
      Object.entries(opened.listMinimums()).map(([token, minimum]) => ({
        token,
        cost: BigInt(minimum) / rowsPerSettlement,
      })),
    isVoidable: (config) => {
      const payerAuthorizer = isFields(config) ? readAddress(config.payerAuthorizer) : null
      return payerAuthorizer === null || isZero(payerAuthorizer)
    },
    isRowFault: (reason) => rowFaults.has(reason),
    writeClaim: (rows, terms) =>
      write(terms, {
        type: 'claim',
        claims: rows.map(({ config, ceiling, signature, total }) => ({
          voucher: { channel: config, maxClaimableAmount: ceiling.toString() },
          signature,
          totalClaimed: total.toString(),
        })),
      }),
    writeSweep: (terms) => write(terms, { type: 'settle', ...terms }),
  }
}
