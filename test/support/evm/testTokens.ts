import { type Abi, type Address, encodeFunctionData, type Hex } from 'viem'
import { type ContractName, getArtifact } from '../contracts/artifacts.js'
import { randomAddress } from './authorization.js'
import { waitForReceipt } from './chainControl.js'
import { type LocalChain, usdcAbi } from './localChain.js'
import type { PaymentChain } from './payment.js'

/** The tokens of `test/support/contracts`, each with one defect. */
type TestTokenName = Extract<
  ContractName,
  | 'AcceptsEverythingToken'
  | 'DaiToken'
  | 'FeeOnTransferToken'
  | 'GasBurnerToken'
  | 'HostilePermitToken'
  | 'LegacyToken3009'
  | 'LyingToken'
  | 'MoodyToken'
  | 'No3009Token'
  | 'NoReturnToken'
  | 'PermitToken'
  | 'SenderDependentToken'
  | 'UsedNonceSilentToken'
>

/** What a `LyingToken` does instead of a transfer; ordered as in the contract. */
export const lies = ['saysNothing', 'saysWrongValue', 'saysWrongRecipient', 'saysTheTruthFalsely'] as const

/** Senders that a `SenderDependentToken` accepts; ordered as in the contract. */
export const senderRules = ['onlyKnownSender', 'notKnownSender', 'onlySimulation'] as const

/** What a `HostilePermitToken` does; ordered as in the contract. */
export const permitTokenBehaviours = [
  'honest',
  'permitDoesNothing',
  'permitReverts',
  'permitBurnsGas',
  'permitReenters',
  'transferReturnsNothing',
  'transferReturnsFalse',
  'transferReturnsTwo',
  'transferReturnsOneByte',
  'transferReverts',
  'transferReenters',
  'transferTakesFee',
] as const

/** Can be used as the chain of `exactPayment`. */
export interface TestToken extends PaymentChain {
  readonly address: Address
  readonly abi: Abi
  mint(to: Address, amount: bigint): Promise<void>
  balanceOf(owner: Address): Promise<bigint>
  /** Calls a function without access control, such as `setLie`. */
  write(functionName: string, args: readonly unknown[]): Promise<void>
}

const withoutVersion: readonly TestTokenName[] = ['AcceptsEverythingToken', 'No3009Token', 'NoReturnToken']

/** `args`: constructor arguments after name and version. */
export const deployTestToken = async (
  chain: LocalChain,
  name: TestTokenName,
  args: readonly unknown[] = [],
): Promise<TestToken> => {
  const domain = { name: 'Test Token', version: '1' } as const
  const { abi, bytecode } = getArtifact(name)
  const allArgs = withoutVersion.includes(name) ? [domain.name] : [domain.name, domain.version, ...args]
  const address = await chain.deploy({ abi, bytecode, args: allArgs })
  const send = async (data: Hex): Promise<void> => {
    const from = randomAddress()
    await chain.fundGas(from)
    const hash = await chain.control.sendAs({ from, to: address, data, gas: 2_000_000n })
    const { status } = await waitForReceipt(chain.client, hash)
    if (status !== 'success') throw new Error(`${name} refused the call`)
  }
  const write = (functionName: string, writeArgs: readonly unknown[]): Promise<void> =>
    send(encodeFunctionData({ abi, functionName, args: writeArgs }))
  return {
    network: chain.network,
    token: { ...domain, chainId: chain.chainId, verifyingContract: address },
    address,
    abi,
    write,
    mint: (to, amount) => write('mint', [to, amount]),
    balanceOf: (owner) =>
      chain.client.readContract({ address, abi: usdcAbi, functionName: 'balanceOf', args: [owner] }),
  }
}
