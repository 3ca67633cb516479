import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  concatHex,
  encodeFunctionData,
  type Hex,
  pad,
  parseAbi,
  parseSignature,
  type TransactionReceipt,
} from 'viem'
import { deploymentProxy } from '../../../src/chains/evm/contracts/deployedContract.js'
import { findRecipientRouter, locateUptoRouter } from '../../../src/chains/evm/contracts/routers.js'
import { uptoRouterAbi } from '../../../src/chains/evm/contracts/uptoRouterAbi.js'
import { randomAddress, randomHex, unixNow } from './authorization.js'
import type { FacilitatorKey, LocalChain, TokenDomain } from './localChain.js'
import { createEoa, type EoaWallet, type PayerWallet } from './wallets.js'

/** Functions of tokens with permits: EIP-2612, and the form of FiatToken V2.2 that takes bytes. */
export const permitTokenAbi = parseAbi([
  'function nonces(address owner) view returns (uint256)',
  'function balanceOf(address account) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function approve(address spender, uint256 value) returns (bool)',
  'function transferFrom(address from, address to, uint256 value) returns (bool)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, bytes signature)',
])

/** The terms of an EIP-2612 permit. */
export interface Permit {
  readonly owner: Address
  readonly spender: Address
  readonly value: bigint
  readonly nonce: bigint
  readonly deadline: bigint
}

export const permit2612TypedData = (domain: TokenDomain, permit: Permit) =>
  ({
    domain: { ...domain },
    types: {
      Permit: [
        { name: 'owner', type: 'address' },
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'Permit',
    message: { ...permit },
  }) as const

/** The argument of the router's `settle`. */
export interface RouterPayment {
  readonly token: Address
  readonly owner: Address
  readonly to: Address
  readonly maxAmount: bigint
  readonly amount: bigint
  readonly deadline: bigint
  readonly permitNonce: bigint
  readonly paymentNonce: Hex
  readonly isBound: boolean
  readonly signature: Hex
}

export interface RouterPaymentOptions {
  readonly wallet: PayerWallet
  /** Default: USDC. */
  readonly token?: TokenDomain
  readonly to?: Address
  readonly maxAmount?: bigint
  readonly amount?: bigint
  readonly isBound?: boolean
  /** Default: what the token expects next. */
  readonly permitNonce?: bigint
  readonly deadline?: bigint
  /** Changes what is signed, not what is sent. */
  readonly signed?: Partial<Permit>
}

/** One call of `execute`. */
export interface RouterCall {
  readonly target: Address
  readonly id: Hex
  readonly data: Hex
}

/** A deployed router with the chain's facilitators, and what tests do with it. */
export interface TestRouter {
  readonly address: Address
  readonly facilitator: FacilitatorKey
  routerOf(recipient: Address): Address
  nonceOf(token: Address, owner: Address): Promise<bigint>
  allowanceOf(token: Address, owner: Address, spender: Address): Promise<bigint>
  /** Signed; by default 600 of at most 1,000, to a new recipient. */
  sign(options: RouterPaymentOptions): Promise<RouterPayment>
  /** Submits the permit of a payment without the router, as anyone may; by default for the spender that it names. */
  frontRun(payment: RouterPayment, spender?: Address): Promise<TransactionReceipt>
  settle(
    payment: RouterPayment,
    options?: { readonly from?: Pick<EoaWallet, 'account'>; readonly gas?: bigint },
  ): Promise<TransactionReceipt>
  execute(calls: readonly RouterCall[], gas?: bigint): Promise<TransactionReceipt>
  /** The name of the router's error, or the message of the token's; fails when the call succeeds. */
  refusalOf(call: RouterFunction, from?: Address): Promise<string>
}

/** With its arguments. */
type RouterFunction =
  | { readonly functionName: 'settle'; readonly args: readonly [RouterPayment] }
  | { readonly functionName: 'executeOne'; readonly args: readonly [RouterCall] }
  | { readonly functionName: 'execute'; readonly args: readonly [readonly RouterCall[]] }

/** Deploys the router as `npm run deploy` does. */
export const deployUptoRouter = async (
  chain: LocalChain,
  facilitators: readonly { readonly address: Address }[] = chain.facilitators,
): Promise<Address> => {
  const { address, initCode } = locateUptoRouter(facilitators.map((each) => each.address))
  const sender = createEoa()
  await chain.fundGas(sender.address)
  const { status } = await chain.send({
    account: sender.account,
    to: deploymentProxy,
    data: concatHex([pad('0x'), initCode]),
  })
  if (status !== 'success') throw new Error('The router could not be deployed')
  return address
}

export const encodeRouterSettle = (payment: RouterPayment): Hex =>
  encodeFunctionData({ abi: uptoRouterAbi, functionName: 'settle', args: [payment] })

const encodePermit = ({ owner, maxAmount, deadline, signature }: RouterPayment, spender: Address): Hex => {
  if (signature.length !== 132) {
    const args = [owner, spender, maxAmount, deadline, signature] as const
    return encodeFunctionData({ abi: permitTokenAbi, functionName: 'permit', args })
  }
  const { r, s, yParity } = parseSignature(signature)
  const args = [owner, spender, maxAmount, deadline, 27 + yParity, r, s] as const
  return encodeFunctionData({ abi: permitTokenAbi, functionName: 'permit', args })
}

/** Fails when there is no revert. */
export const readRefusal = async (call: Promise<unknown>): Promise<string> => {
  const error = await call.then(
    () => null,
    (cause: unknown) => cause,
  )
  if (!(error instanceof BaseError)) throw error ?? new Error('The call succeeded')
  const revert = error.walk((cause) => cause instanceof ContractFunctionRevertedError)
  if (!(revert instanceof ContractFunctionRevertedError)) throw error
  return revert.data?.errorName === 'Error' ? (revert.reason ?? '') : (revert.data?.errorName ?? 'no data')
}

const gasLimit = 3_000_000n

export const createTestRouter = async (chain: LocalChain): Promise<TestRouter> => {
  const address = await deployUptoRouter(chain)
  const [facilitator] = chain.facilitators
  if (facilitator === undefined) throw new Error('The chain has no facilitator')
  const routerOf = (recipient: Address): Address => findRecipientRouter(address, recipient)
  const nonceOf = (token: Address, owner: Address): Promise<bigint> =>
    chain.client.readContract({ address: token, abi: permitTokenAbi, functionName: 'nonces', args: [owner] })
  return {
    address,
    facilitator,
    routerOf,
    nonceOf,
    allowanceOf: (token, owner, spender) =>
      chain.client.readContract({
        address: token,
        abi: permitTokenAbi,
        functionName: 'allowance',
        args: [owner, spender],
      }),
    sign: async (options) => {
      const { wallet, token = chain.token, to = randomAddress(), isBound = false } = options
      const { maxAmount = 1_000n, amount = 600n, deadline = BigInt(unixNow() + 3_600) } = options
      const permitNonce = options.permitNonce ?? (await nonceOf(token.verifyingContract, wallet.address))
      const permit: Permit = {
        owner: wallet.address,
        spender: isBound ? routerOf(to) : address,
        value: maxAmount,
        nonce: permitNonce,
        deadline,
        ...options.signed,
      }
      return {
        token: token.verifyingContract,
        owner: wallet.address,
        to,
        maxAmount,
        amount,
        deadline,
        permitNonce,
        paymentNonce: randomHex(32),
        isBound,
        signature: await wallet.signTypedData(permit2612TypedData(token, permit)),
      }
    },
    frontRun: async (payment, spender = payment.isBound ? routerOf(payment.to) : address) => {
      const anyone = createEoa()
      await chain.fundGas(anyone.address)
      const data = encodePermit(payment, spender)
      return chain.send({ account: anyone.account, to: payment.token, data, gas: gasLimit })
    },
    settle: (payment, { from = facilitator, gas = gasLimit } = {}) =>
      chain.send({
        account: from.account,
        to: address,
        data: encodeRouterSettle(payment),
        gas,
      }),
    execute: (calls, gas = gasLimit) =>
      chain.send({
        account: facilitator.account,
        to: address,
        data: encodeFunctionData({ abi: uptoRouterAbi, functionName: 'execute', args: [calls] }),
        gas,
      }),
    refusalOf: (call, from = facilitator.address) => {
      const shared = { address, abi: uptoRouterAbi, account: from, gas: 10_000_000n } as const
      switch (call.functionName) {
        case 'settle':
          return readRefusal(
            chain.client.simulateContract({ ...shared, functionName: 'settle', args: call.args }),
          )
        case 'executeOne':
          return readRefusal(
            chain.client.simulateContract({ ...shared, functionName: 'executeOne', args: call.args }),
          )
        case 'execute':
          return readRefusal(
            chain.client.simulateContract({ ...shared, functionName: 'execute', args: call.args }),
          )
      }
    },
  }
}
