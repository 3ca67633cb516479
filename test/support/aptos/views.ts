import { hashOf, pad, toHex, toStandard } from './bytes.js'
import type { FungibleStore } from './execution.js'
import type { Committed } from './ledger.js'
import type { DecodedTransaction } from './transaction.js'

/** How the node writes addresses: some versions drop leading zeros. */
export type AddressForm = (address: string) => string

export const standardForm: AddressForm = toStandard
export const strippedForm: AddressForm = (address) => `0x${address.slice(2).replace(/^0+/, '') || '0'}`

const microseconds = (milliseconds: number): string => String(BigInt(milliseconds) * 1_000n)

const guid = { creation_number: '0', account_address: '0x0' }

const writtenResources = (store: FungibleStore, write: AddressForm) =>
  [
    {
      type: '0x1::fungible_asset::FungibleStore',
      data: {
        balance: String(store.balance),
        frozen: store.isFrozen,
        metadata: { inner: write(store.asset) },
      },
    },
    {
      type: '0x1::object::ObjectCore',
      data: {
        allow_ungated_transfer: false,
        guid_creation_num: '1125899906842624',
        owner: write(store.owner),
        transfer_events: {
          counter: '0',
          guid: { id: { addr: write(store.address), creation_num: '1125899906842624' } },
        },
      },
    },
  ].map((data) => ({
    address: write(store.address),
    state_key_hash: toHex(hashOf(store.address, data.type)),
    data,
    type: 'write_resource',
  }))

const writtenSupply = (asset: string, write: AddressForm) => {
  const type = '0x1::fungible_asset::ConcurrentSupply'
  const data = {
    type,
    data: { current: { value: '1000000', max_value: '340282366920938463463374607431768211455' } },
  }
  return {
    address: write(asset),
    state_key_hash: toHex(hashOf(asset, type)),
    data,
    type: 'write_resource',
  }
}

const feeStatement = {
  guid,
  sequence_number: '0',
  type: '0x1::transaction_fee::FeeStatement',
  data: {
    execution_gas_units: '5',
    io_gas_units: '4',
    storage_fee_octas: '0',
    storage_fee_refund_octas: '0',
    total_charge_gas_units: '9',
  },
}

/** REST renders `Object<T>` arguments as `{ inner }`. */
const toJsonArguments = ({ function: name, arguments: given }: DecodedTransaction, write: AddressForm) => {
  const [first, second, third] = given.map(toHex)
  if (given.length !== 3 || first?.length !== 66 || second?.length !== 66) return given.map(toHex)
  const amount = String(Buffer.from(third?.slice(2) ?? '', 'hex').readBigUInt64LE())
  const isBetweenStores = name === '0x1::fungible_asset::transfer'
  return [{ inner: write(first) }, isBetweenStores ? { inner: write(second) } : write(second), amount]
}

const toJsonRequest = (transaction: DecodedTransaction, write: AddressForm) => ({
  hash: transaction.hash,
  sender: write(transaction.sender),
  sequence_number: String(transaction.sequenceNumber),
  max_gas_amount: String(transaction.maxGas),
  gas_unit_price: String(transaction.gasPrice),
  expiration_timestamp_secs: String(transaction.expiresAtSeconds),
  payload: {
    function: transaction.function,
    type_arguments: transaction.typeArguments,
    arguments: toJsonArguments(transaction, write),
    type: 'entry_function_payload',
  },
  signature: {
    public_key: toHex(transaction.publicKey),
    signature: toHex(transaction.signature),
    type: 'ed25519_signature',
  },
  replay_protection_nonce: null,
})

export const toJsonTransaction = (found: DecodedTransaction | Committed, write: AddressForm) => {
  if (!('version' in found)) return { ...toJsonRequest(found, write), type: 'pending_transaction' }
  const { transaction, version, timestampMs, isSuccessful, vmStatus, events } = found
  const rootOf = (name: string) => toHex(hashOf(name, String(version)))
  return {
    version: String(version),
    ...toJsonRequest(transaction, write),
    state_change_hash: rootOf('state'),
    event_root_hash: rootOf('events'),
    state_checkpoint_hash: null,
    gas_used: '9',
    success: isSuccessful,
    vm_status: vmStatus,
    accumulator_root_hash: rootOf('accumulator'),
    changes: [
      ...found.touched.flatMap((store) => writtenResources(store, write)),
      ...found.changedSupplies.map((asset) => writtenSupply(asset, write)),
    ],
    events: [
      ...events.map(({ type, store, amount }) => ({
        guid,
        sequence_number: '0',
        type,
        data: { store: write(store), amount: String(amount) },
      })),
      feeStatement,
    ],
    timestamp: microseconds(timestampMs),
    type: 'user_transaction',
  }
}

export const toJsonLedger = (
  chainId: number,
  { height, version, timestampMs }: { height: number; version: bigint; timestampMs: number },
) => ({
  chain_id: chainId,
  epoch: '1',
  ledger_version: String(version),
  oldest_ledger_version: '0',
  ledger_timestamp: microseconds(timestampMs),
  node_role: 'full_node',
  oldest_block_height: '0',
  block_height: String(height),
  git_hash: '0',
})

const entry = (name: string, parameters: readonly string[], isGeneric = false) => ({
  name,
  visibility: 'public',
  is_entry: true,
  is_view: false,
  generic_type_params: isGeneric ? [{ constraints: ['key'] }] : [],
  params: ['&signer', ...parameters],
  return: [],
})

const moduleOf = (address: string, name: string, functions: readonly object[]) => ({
  bytecode: '0x',
  abi: { address, name, friends: [], structs: [], exposed_functions: functions },
})

const anyObject = '0x1::object::Object<T0>'
const metadataObject = '0x1::object::Object<0x1::fungible_asset::Metadata>'

const modules: Readonly<Record<string, object>> = {
  primary_fungible_store: moduleOf('0x1', 'primary_fungible_store', [
    entry('transfer', [anyObject, 'address', 'u64'], true),
  ]),
  fungible_asset: moduleOf('0x1', 'fungible_asset', [entry('transfer', [anyObject, anyObject, 'u64'], true)]),
  aptos_account: moduleOf('0x1', 'aptos_account', [
    entry('transfer_fungible_assets', [metadataObject, 'address', 'u64']),
    entry('batch_transfer_fungible_assets', [metadataObject, 'vector<address>', 'vector<u64>']),
  ]),
}

/** With the ABI that clients encode arguments by; any other module has the one entry function `run`. */
export const findModule = (address: string, name: string): object | null =>
  pad(address) === pad('0x1') ? (modules[name] ?? null) : moduleOf(address, name, [entry('run', [])])
