import { describe, expect, it } from 'vitest'
import {
  combineSendAnswers,
  readSendAnswer,
  type SendAnswer,
} from '../../../../src/chains/evm/rpc/broadcast.js'

/** Responses of nodes to eth_sendRawTransaction, by what they prove. */
const table: Readonly<Record<SendAnswer, readonly (readonly [string, string])[]>> = {
  entered: [
    ['geth, op-geth, bor, reth, erigon, nethermind', 'already known'],
    ['older geth', `known transaction: 0x${'ab'.repeat(32)}`],
    ['besu', 'Known transaction'],
    ['erigon', 'INTERNAL_ERROR: existing tx with same hash'],
    ['older nethermind', 'AlreadyKnown'],
    ['anvil', 'transaction already imported'],
    ['openethereum', 'Transaction with the same hash was already imported.'],
    ['zksync', 'known transaction. transaction with hash 0xab is already in the system'],
  ],
  nonce_used: [
    ['geth', 'nonce too low: next nonce 5, tx nonce 3'],
    ['nitro', 'nonce too low: address 0x18f77dd01186556F1F745E7847A4686421dEE072, tx: 3 state: 5'],
    ['besu', 'Nonce too low'],
    ['anvil', 'nonce too low'],
    ['hardhat', 'Nonce provided for the transaction is lower than the current nonce of the account.'],
    ['older nethermind', 'OldNonce, Current nonce: 5, nonce of rejected tx: 3'],
    ['openethereum', 'Transaction nonce is too low. Try incrementing the nonce.'],
    ['moonbeam', 'Pool(Stale)'],
    ['harmony', 'transaction already finalized'],
  ],
  unknown: [
    ['geth, erigon, bor, reth, nethermind', 'replacement transaction underpriced'],
    ['besu', 'Replacement transaction underpriced'],
    ['older nethermind', 'ReplacementNotAllowed'],
    ['older nethermind', 'OwnNonceAlreadyUsed'],
    ['reth', '[0xab]: insufficient gas price to replace existing transaction.'],
    [
      'openethereum',
      'Transaction gas price 7wei is too low. There is another transaction with same nonce in the queue',
    ],
    ['any', 'internal error'],
    ['nitro', 'context deadline exceeded'],
    ['a gateway', 'request timed out'],
    ['nobody', 'the moon is too full'],
    ['nobody', 'unknown transaction'],
    ['nobody', ''],
  ],
  refused: [
    ['geth, reth, bor', 'txpool is full'],
    ['older nitro', 'sequencer pending tx pool full, please try again'],
    ['nitro', 'queue full'],
    ['others', 'transaction pool is full'],
    ['others', 'Transaction pool queue limit reached'],
    ['geth', 'account limit exceeded'],
    ['geth', 'future transaction tries to replace pending transaction'],
    ['geth', 'in-flight transaction limit reached for delegated accounts'],
    ['geth', 'gapped-nonce tx from delegated accounts'],
    ['geth', 'address already reserved'],
    ['reth', 'transaction discarded outright due to pool size constraints'],
    [
      'openethereum',
      'There are too many transactions in the queue. Your transaction was dropped due to limit.',
    ],
    ['geth', 'transaction underpriced: gas tip cap 0, minimum needed 1'],
    [
      'nitro, zksync',
      'max fee per gas less than block base fee: address 0x18f7, maxFeePerGas: 1, baseFee: 2',
    ],
    ['erigon', 'fee cap less than block base fee'],
    ['older nethermind', 'FeeTooLowToCompete'],
    ['older nethermind', 'FeeTooLow, MaxFeePerGas too low. MaxFeePerGas: 1, BaseFee: 2'],
    ['besu', 'Gas price below current base fee'],
    ['besu', 'Gas price below configured minimum gas price'],
    ['besu', 'Transaction fee cap exceeded'],
    ['besu', 'Max priority fee per gas exceeds max fee per gas'],
    ['geth', 'max priority fee per gas higher than max fee per gas'],
    ['geth', 'tx fee (1.20 ether) exceeds the configured cap (1.00 ether)'],
    ['celo', 'gasprice is less than gas price minimum floor'],
    ['metis', 'gas price too low: 1 wei, use at least tx.gasPrice = 2 wei'],
    ['anvil', 'max fee per gas less than block base fee'],
    ['geth', 'intrinsic gas too low: gas 20000, minimum needed 21000'],
    ['besu', 'Intrinsic gas exceeds gas limit'],
    ['geth', 'insufficient gas for floor data gas cost: gas 1, minimum needed 2'],
    ['geth', 'exceeds block gas limit'],
    ['besu', 'Transaction gas limit exceeds block gas limit'],
    ['geth', 'transaction gas limit too high (cap: 16777216, tx: 20000000)'],
    ['older nethermind', 'GasLimitExceeded, Gas limit: 1, gas limit of rejected tx: 2'],
    ['geth', 'insufficient funds for gas * price + value: balance 0, tx cost 1, overshot 1'],
    ['geth', 'transaction would cause overdraft'],
    ['besu', 'Upfront cost exceeds account balance'],
    ['older nethermind', 'InsufficientFunds, Account balance: 0, cumulative cost: 1'],
    ['anvil', 'Insufficient funds for gas * price + value'],
    ['nitro', 'not enough funds for gas'],
    ['geth', 'transaction type not supported'],
    ['older geth', 'tx type not supported'],
    ['besu', 'Invalid transaction type'],
    ['geth', 'invalid sender'],
    ['besu', 'Invalid signature'],
    ['geth', 'sender not an eoa: address 0x18f7'],
    ['geth', 'invalid chain id for signer: have 1 want 2'],
    ['besu', 'Wrong chainId'],
    ['geth', 'only replay-protected (EIP-155) transactions allowed over RPC'],
    ['geth', 'oversized data: transaction size 200000, limit 131072'],
    ['geth', 'negative value'],
    ['geth', 'rlp: expected input list for types.LegacyTx'],
    ['nitro, geth', 'nonce too high: address 0x18f7, tx: 9 state: 5'],
    ['older nethermind', 'NonceGap, Future nonce. Expected nonce: 5'],
    ['besu', 'Transaction nonce is too distant from current sender nonce'],
    ['besu', 'An invalid transaction with a lower nonce exists'],
    ['besu', 'Transaction pool not enabled. (Either txpool explicitly disabled, or node not yet in sync).'],
    ['besu', 'Initial sync is still in progress'],
    ['besu', 'Sender account not authorized to send transactions'],
    ['nitro', 'forbidden sender address'],
    ['a provider', 'Your app has exceeded its compute units per second capacity'],
    ['a provider', 'daily request count exceeded, request rate limited'],
    ['a provider', 'the method eth_sendRawTransaction does not exist/is not available'],
  ],
}

describe("a node's response to a send", () => {
  const rows = Object.entries(table).flatMap(([answer, sayings]) =>
    sayings.map(([who, words]) => ({ answer, who, words })),
  )

  it.each(rows)('$answer: $words ($who)', ({ answer, words }) => {
    expect(readSendAnswer(words)).toBe(answer)
    // Gateways may prefix the node's message.
    expect(readSendAnswer(`err: ${words}`)).toBe(answer)
  })
})

describe('the responses of several nodes', () => {
  it.each<readonly [readonly SendAnswer[], SendAnswer]>([
    [['refused', 'entered'], 'entered'],
    [['nonce_used', 'entered'], 'entered'],
    [['refused', 'unknown', 'nonce_used'], 'unknown'],
    [['refused', 'nonce_used'], 'nonce_used'],
    [['refused', 'refused'], 'refused'],
    // No node was reached.
    [[], 'refused'],
  ])('%j are combined to %s', (answers, sum) => {
    expect(combineSendAnswers(answers)).toBe(sum)
  })
})
