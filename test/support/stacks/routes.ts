import { Cl, cvToString, PayloadType } from '@stacks/transactions'
import { z } from 'zod'
import { type Ledger, type Mined, Rejected } from './ledger.js'

interface Answer {
  readonly status: number
  readonly body: unknown
}

const ok = (body: unknown): Answer => ({ status: 200, body })
const notFound = (error: string): Answer => ({ status: 404, body: { error } })

const defaultEvents = 96
const maxEvents = 100

/** The node's RPC and Hiro's extended API, as far as clients and verifiers of payments use them. */
export const createRoutes = (ledger: Ledger, { now }: { readonly now: () => number }) => {
  const { simnet } = ledger

  const describe = (id: string, query: URLSearchParams): Answer => {
    const pending = ledger.findPending(id)
    if (pending !== null) {
      return ok({ tx_id: id, tx_status: 'pending', tx_type: 'contract_call', sender_address: pending.sender })
    }
    const mined = ledger.findMined(id)
    const dropped = ledger.findDropped(id)
    if (mined === null && dropped !== null) return ok({ tx_id: id, tx_status: dropped })
    if (mined === null) return notFound(`could not find transaction by ID ${id}`)
    const limit = Math.min(Number(query.get('event_limit') ?? defaultEvents), maxEvents)
    const offset = Number(query.get('event_offset') ?? 0)
    const events = mined.events.map(toEvent).slice(offset, offset + limit)
    return ok({ ...describeMined(mined), event_count: mined.events.length, events })
  }

  const callReadOnly = (contract: string, name: string, body: unknown): Answer => {
    const { sender, arguments: given } = z
      .object({ sender: z.string(), arguments: z.array(z.string()) })
      .parse(body)
    const { result } = simnet.callReadOnlyFn(
      contract,
      name,
      given.map((hex) => Cl.deserialize(hex)),
      sender,
    )
    return ok({ okay: true, result: `0x${Cl.serialize(result)}` })
  }

  const submit = (body: unknown): Answer => {
    try {
      const id = ledger.submit(z.object({ tx: z.string() }).parse(body).tx)
      return ok(id.slice(2))
    } catch (error) {
      if (!(error instanceof Rejected)) throw error
      const { reason, id } = error
      return { status: 400, body: { error: 'transaction rejected', reason, reason_data: {}, txid: id } }
    }
  }

  return ({ pathname, searchParams }: URL, body: unknown): Answer => {
    const [, id] = /^\/extended\/v1\/tx\/((?:0x)?[0-9a-f]{64})$/.exec(pathname) ?? []
    if (id !== undefined) return describe(id.startsWith('0x') ? id : `0x${id}`, searchParams)
    const [, contractAddress, contractName] =
      /^\/v2\/contracts\/interface\/(\w+)\/([\w-]+)$/.exec(pathname) ?? []
    if (contractAddress !== undefined) {
      const found = simnet.getContractsInterfaces().get(`${contractAddress}.${contractName}`)
      return found === undefined ? notFound('No contract interface data found') : ok(found)
    }
    const [, address, name, reading] =
      /^\/v2\/contracts\/call-read\/(\w+)\/([\w-]+)\/([\w-]+)$/.exec(pathname) ?? []
    if (reading !== undefined) return callReadOnly(`${address}.${name}`, reading, body)
    const [, account] = /^\/extended\/v1\/address\/(\w+)\/nonces$/.exec(pathname) ?? []
    if (account !== undefined) {
      const next = Number(ledger.nextNonce(account))
      return ok({
        last_mempool_tx_nonce: null,
        last_executed_tx_nonce: next === 0 ? null : next - 1,
        possible_next_nonce: next,
        detected_missing_nonces: [],
        detected_mempool_nonces: [],
      })
    }
    switch (pathname) {
      case '/v2/transactions':
        return submit(body)
      case '/v2/fees/transfer':
        return ok(1)
      case '/v2/info':
        return ok({
          peer_version: 4_207_599_116,
          burn_block_height: ledger.burnHeight(),
          network_id: 2_147_483_648,
          parent_network_id: 3_669_344_250,
          stacks_tip_height: ledger.height(),
          server_version: 'simnet',
        })
      case '/extended/v2/blocks': {
        const time = Math.floor(now() / 1_000)
        const newest = {
          canonical: true,
          height: ledger.height(),
          hash: `0x${'00'.repeat(32)}`,
          block_time: time,
          block_time_iso: new Date(time * 1_000).toISOString(),
          burn_block_height: ledger.burnHeight(),
          burn_block_time: time,
          tx_count: 0,
        }
        return ok({ limit: 1, offset: 0, total: ledger.height(), results: [newest] })
      }
      default:
        return notFound('Not Found')
    }
  }
}

const describeMined = ({ id, transaction, sender, sponsor, ...mined }: Mined) => ({
  tx_id: id,
  nonce: Number(transaction.auth.spendingCondition.nonce),
  fee_rate: transaction.auth.spendingCondition.fee.toString(),
  sender_address: sender,
  sponsored: sponsor !== null,
  ...(sponsor === null ? {} : { sponsor_address: sponsor }),
  post_condition_mode: 'allow',
  post_conditions: [],
  anchor_mode: 'any',
  tx_type: transaction.payload.payloadType === PayloadType.ContractCall ? 'contract_call' : 'smart_contract',
  is_unanchored: !mined.isAnchored,
  block_hash: `0x${mined.height.toString(16).padStart(64, '0')}`,
  block_height: mined.height,
  block_time: mined.time,
  block_time_iso: new Date(mined.time * 1_000).toISOString(),
  burn_block_height: mined.burnHeight,
  burn_block_time: mined.time,
  canonical: mined.isCanonical,
  microblock_canonical: mined.isCanonical,
  microblock_sequence: 2_147_483_647,
  tx_index: 0,
  tx_status: mined.status,
  tx_result: { hex: `0x${Cl.serialize(mined.result)}`, repr: cvToString(mined.result) },
})

const toEvent = ({ event, data }: Mined['events'][number], index: number) => {
  const shared = { event_index: index }
  const [, asset, action] = /^(ft|stx|nft)_(\w+)_event$/.exec(event) ?? []
  if (asset === 'ft') {
    return {
      ...shared,
      event_type: 'fungible_token_asset',
      asset: {
        asset_event_type: action,
        asset_id: data.asset_identifier,
        sender: data.sender ?? '',
        recipient: data.recipient ?? '',
        amount: String(data.amount),
      },
    }
  }
  if (asset === 'stx') return { ...shared, event_type: 'stx_asset' }
  if (asset === 'nft') return { ...shared, event_type: 'non_fungible_token_asset' }
  return {
    ...shared,
    event_type: 'smart_contract_log',
    contract_log: {
      contract_id: data.contract_identifier,
      topic: data.topic,
      value: { hex: `0x${String(data.raw_value).replace(/^0x/, '')}`, repr: '' },
    },
  }
}
