import { encodeFunctionData, getAddress, type Hex, multicall3Abi, pad, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import { createLogger } from '../../../src/platform/logger.js'
import { getArtifact } from '../../support/contracts/artifacts.js'
import { reconcileUntil } from '../../support/coreClient.js'
import { randomAddress, randomHex, unixNow } from '../../support/evm/authorization.js'
import { multicall3Address } from '../../support/evm/localChain.js'
import { type ExactPaymentBody, exactPayment } from '../../support/evm/payment.js'
import { toCompact, toHighS, toParityV } from '../../support/evm/signatureForms.js'
import { deployTestToken, lies, senderRules, type TestToken } from '../../support/evm/testTokens.js'
import { encodeTransfer } from '../../support/evm/transfer.js'
import {
  createDelegatedEoa,
  createEoa,
  createMoodyWallet,
  deployWallet,
  type EoaWallet,
  getHostileFactory,
  hostileFactoryAbi,
} from '../../support/evm/wallets.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import type { RpcProxy } from '../../support/rpcProxy.js'
import { standingClock } from '../../support/shiftedClock.js'
import { useScene } from '../../support/useScene.js'
import { whenInPool } from './batches.js'
import {
  eventually,
  openScene,
  openSlow,
  type PaymentPlan,
  planPayment,
  quickFinality,
  readOneBlockLater,
  refuseSends,
} from './scene.js'
import {
  cancelAuthorization,
  countSent,
  expectRefused,
  funded,
  sendAsStranger,
  sweep,
  withSignature,
} from './strangers.js'

/* The numbers refer to the project's list of attacks on facilitators. */

const scene = useScene(openScene)

const impatient = { SETTLE_WAIT_SECONDS: '1' }
const variable = (name: string) => `${name}_${scene.chain.chainId}`

/** Executes a payment from another account; returns the transaction hash. */
const frontRun = (body: ExactPaymentBody) => sendAsStranger(scene, encodeTransfer(body))

describe('A1: an authorization that was not signed for this payment', () => {
  it.each<[string, string, (wallet: EoaWallet) => Promise<PaymentPlan>]>([
    [
      'with the signature of another key',
      'invalid_exact_evm_payload_signature',
      async (wallet) => {
        const { paymentPayload } = await exactPayment({ chain: scene.chain, wallet: createEoa() })
        return { wallet, signature: paymentPayload.payload.signature }
      },
    ],
    [
      "with the payer's signature of another amount",
      'invalid_exact_evm_payload_signature',
      async (wallet) => {
        const payTo = randomAddress()
        const { paymentPayload } = await exactPayment({ chain: scene.chain, wallet, payTo, amount: 1n })
        const { authorization, signature } = paymentPayload.payload
        return { wallet, payTo, authorization: { ...authorization, value: '10000' }, signature }
      },
    ],
  ])('is refused: %s', async (_what, reason, change) => {
    const service = await scene.open()
    const { body } = await scene.plan(await change(createEoa()))
    await expectRefused(scene, service, body, reason)
  })
})

describe('A2: the accepted requirements in the payload', () => {
  it('do not lower the required amount, even when the authorization matches them', async () => {
    const service = await scene.open()
    const { body } = await scene.plan({
      requirements: { amount: '20000' },
      balance: 50_000n,
      authorization: { value: '10000' },
    })
    await expectRefused(scene, service, body, 'invalid_exact_evm_payload_authorization_value')
  })
})

describe('A3: replay of a payment for another resource', () => {
  it('is refused as duplicate_settlement at the same price', async () => {
    const service = await scene.open()
    const { body, payTo } = await scene.plan({ balance: 100_000n })
    const sibling = {
      ...body,
      paymentPayload: { ...body.paymentPayload, resource: { url: 'https://merchant.example/sibling' } },
    }
    const first = await service.settle(body)
    expect(first).toMatchObject({ success: true })
    expect(await service.settle(sibling)).toMatchObject({
      success: false,
      errorReason: 'duplicate_settlement',
      transaction: first.transaction,
    })
    expect(await service.verify(sibling)).toMatchObject({ isValid: false })
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
  })
})

describe('A4: concurrent settlements of one authorization', () => {
  it('earn one success across ten resources and three callers', async () => {
    const service = await scene.open()
    const { body, payTo } = await scene.plan({ balance: 1_000_000n })
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        service.settle(
          {
            ...body,
            paymentPayload: {
              ...body.paymentPayload,
              resource: { url: `https://merchant.example/${index}` },
            },
          },
          `caller ${index % 3}`,
        ),
      ),
    )
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    for (const { success, errorReason } of answers) {
      if (!success) expect(errorReason).toBe('duplicate_settlement')
    }
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
    expect(await countSent(scene, service)).toBe(1)
  })
})

describe('A5: a payer who revokes the payment', () => {
  it('by cancelling between verify and settle is refused', async () => {
    const service = await scene.open()
    const wallet = createEoa()
    const { body } = await scene.plan({ wallet })
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    await cancelAuthorization(scene, wallet, body.paymentPayload.payload.authorization.nonce)
    await expectRefused(scene, service, body, 'invalid_exact_evm_nonce_already_used')
  })

  it('by moving the balance between verify and settle is refused', async () => {
    const service = await scene.open()
    const wallet = createEoa()
    const { body } = await scene.plan({ wallet })
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    await sweep(scene, wallet, 1n)
    await expectRefused(scene, service, body, 'insufficient_funds')
  })

  it('by cancelling before our transaction is mined fails, with proof', async () => {
    const { settleAfter, service } = await openSlow(scene)
    const wallet = createEoa()
    const { body, payTo } = await scene.plan({ wallet })
    const { nonce } = body.paymentPayload.payload.authorization
    const answer = await settleAfter(body, () => cancelAuthorization(scene, wallet, nonce))
    expect(await readOneBlockLater(scene, service, answer)).toMatchObject({
      errorReason: 'invalid_exact_evm_nonce_already_used',
      status: 'failed',
    })
    expect(await scene.chain.balanceOf(payTo)).toBe(0n)
  })

  it('by moving the balance before our transaction is mined fails', async () => {
    const { settleAfter, service } = await openSlow(scene)
    const wallet = createEoa()
    const { body, payTo } = await scene.plan({ wallet })
    const answer = await settleAfter(body, () => sweep(scene, wallet, 1n))
    expect(await readOneBlockLater(scene, service, answer)).toMatchObject({
      status: 'failed',
      errorReason: 'invalid_exact_evm_transaction_failed',
    })
    expect(await scene.chain.balanceOf(payTo)).toBe(0n)
  })
})

describe('A9: a token that does not revert on a used authorization', () => {
  const open = async () => {
    const token = await deployTestToken(scene.chain, 'UsedNonceSilentToken')
    return { token, environment: { [variable('EVM_TOKENS')]: token.address } }
  }

  it('is refused for an authorization that is already used', async () => {
    const { token, environment } = await open()
    const service = await scene.open({ environment })
    const { body } = await planPayment(scene.chain, token, { balance: 50_000n })
    await frontRun(body)
    await expectRefused(scene, service, body, 'invalid_exact_evm_nonce_already_used')
  })

  it('settles once, although a second transaction would succeed', async () => {
    const { token, environment } = await open()
    const { settleAfter, service } = await openSlow(scene, environment)
    const { body, payTo } = await planPayment(scene.chain, token, { balance: 50_000n })
    let theirs = ''
    const answer = await settleAfter(body, async () => {
      theirs = await frontRun(body)
    })
    expect(answer).toMatchObject({ success: true, transaction: theirs })
    expect(await token.balanceOf(payTo)).toBe(10_000n)
    expect(await countSent(scene, service)).toBe(1)
  })
})

describe('A10: a token that does not pay the authorized value', () => {
  const lyingCases = lies.map((lie, index): [string, () => Promise<TestToken>] => [
    `lies: ${lie}`,
    () => deployTestToken(scene.chain, 'LyingToken', [index]),
  ])
  const tokens: readonly [string, () => Promise<TestToken>][] = [
    ['takes a fee', () => deployTestToken(scene.chain, 'FeeOnTransferToken')],
    ...lyingCases,
  ]

  it.each(tokens)('is refused where any token is accepted: %s', async (_what, deploy) => {
    const service = await scene.open({ environment: { [variable('EVM_TOKENS')]: '*' } })
    const { body } = await planPayment(scene.chain, await deploy())
    await expectRefused(scene, service, body, 'invalid_exact_evm_transfer_event_mismatch')
  })

  it.each(tokens)('is refused where only listed tokens are accepted: %s', async (_what, deploy) => {
    const service = await scene.open()
    const { body } = await planPayment(scene.chain, await deploy())
    await expectRefused(scene, service, body, 'unsupported_asset')
  })

  // The last variant emits a correct event; only the simulation detects it.
  it.each(['saysNothing', 'saysWrongValue', 'saysWrongRecipient'] as const)(
    'earns no success although the operator listed it: lies, %s',
    async (lie) => {
      const liar = await deployTestToken(scene.chain, 'LyingToken', [lies.indexOf(lie)])
      const service = await scene.open({
        environment: { ...quickFinality(scene), [variable('EVM_TOKENS')]: liar.address },
      })
      const { body, payTo } = await planPayment(scene.chain, liar)
      expect(await readOneBlockLater(scene, service, await service.settle(body))).toMatchObject({
        errorReason: 'invalid_exact_evm_transfer_event_mismatch',
        status: 'failed',
      })
      expect(await liar.balanceOf(payTo)).toBeLessThan(10_000n)
    },
  )

  it('earns no success with an undisclosed transfer fee', async () => {
    const token = await deployTestToken(scene.chain, 'FeeOnTransferToken')
    const service = await scene.open({
      environment: { ...quickFinality(scene), [variable('EVM_TOKENS')]: token.address },
    })
    const { body } = await planPayment(scene.chain, token)
    expect(await readOneBlockLater(scene, service, await service.settle(body))).toMatchObject({
      status: 'failed',
      errorReason: 'invalid_exact_evm_transfer_event_mismatch',
    })
  })
})

describe('A11: a token that burns gas', () => {
  it('above the cap is refused', async () => {
    const token = await deployTestToken(scene.chain, 'GasBurnerToken', [600_000n])
    const service = await scene.open({ environment: { [variable('EVM_TOKENS')]: '*' } })
    const { body } = await planPayment(scene.chain, token)
    await expectRefused(scene, service, body, 'gas_limit_exceeded')
  })

  it('above the cap only after the simulation is refused by the estimate', async () => {
    const token = await deployTestToken(scene.chain, 'GasBurnerToken', [0n])
    const { proxy, service } = await openSlow(scene, { [variable('EVM_TOKENS')]: '*' })
    const { body } = await planPayment(scene.chain, token)
    const release = proxy.hold('eth_estimateGas')
    const settling = service.settle(body)
    await eventually(() => (proxy.count('eth_estimateGas') > 0 ? true : null))
    await token.write('setGasToBurn', [5_000_000n])
    release()
    expect(await settling).toMatchObject({ success: false, errorReason: 'gas_limit_exceeded' })
    expect(await countSent(scene, service)).toBe(0)
  })

  it('only after the estimate burns at most the estimate plus 20 %', async () => {
    const token = await deployTestToken(scene.chain, 'GasBurnerToken', [0n])
    const { settleAfter, service } = await openSlow(scene, { [variable('EVM_TOKENS')]: '*' })
    const address = service.signers[0]?.address ?? '0x'
    const { body, payTo } = await planPayment(scene.chain, token)
    const before = await scene.chain.client.getBalance({ address })
    const answer = await settleAfter(body, () => token.write('setGasToBurn', [5_000_000n]))
    expect(await readOneBlockLater(scene, service, answer)).toMatchObject({ status: 'failed' })
    expect(await token.balanceOf(payTo)).toBe(0n)
    const spent = before - (await scene.chain.client.getBalance({ address }))
    const { baseFeePerGas } = await scene.chain.client.getBlock()
    expect(spent).toBeLessThan(200_000n * ((baseFeePerGas ?? 0n) * 4n + 2_000_000_000n))
  })

  it("through the payer's wallet burns no more than the cap", async () => {
    const service = await scene.open()
    const wallet = await deployWallet(scene.chain, await createMoodyWallet(scene.chain, 'burnsGas'))
    const { body } = await scene.plan({ wallet })
    const { transaction, success } = await service.settle(body)
    expect(success).toBe(true)
    const receipt = await scene.chain.client.getTransactionReceipt({ hash: `0x${transaction.slice(2)}` })
    expect(receipt.gasUsed).toBeLessThanOrEqual(1_000_000n)
  })
})

describe('A12: an ERC-6492 factory chosen by the payer', () => {
  const deploying = (factory: string) => ({
    DEPLOY_ERC4337_WITH_EIP6492: 'true',
    EVM_SMART_WALLET_FACTORIES: factory,
  })
  const lastCaller = async () => {
    const address = await getHostileFactory(scene.chain)
    return scene.chain.client.readContract({ address, abi: hostileFactoryAbi, functionName: 'lastCaller' })
  }
  const withCall = async (factoryData: (salt: Hex) => Hex) => {
    const wallet = await createMoodyWallet(scene.chain, 'acceptsAll')
    // The last two words of the call are the salt and the mode.
    const salt: Hex = `0x${wallet.deployment.factoryData.slice(10, 74)}`
    return { ...wallet, deployment: { ...wallet.deployment, factoryData: factoryData(salt) } }
  }

  it('is never called unless it is listed', async () => {
    const service = await scene.open({ environment: { DEPLOY_ERC4337_WITH_EIP6492: 'true' } })
    const { body } = await scene.plan({ wallet: await createMoodyWallet(scene.chain, 'acceptsAll') })
    const before = await lastCaller()
    await expectRefused(scene, service, body, 'eip6492_factory_not_allowed')
    expect(await lastCaller()).toBe(before)
  })

  it('is called by Multicall3, never by our account, and without value', async () => {
    const factory = await getHostileFactory(scene.chain)
    const service = await scene.open({ environment: deploying(factory) })
    const { body, payTo } = await scene.plan({ wallet: await createMoodyWallet(scene.chain, 'acceptsAll') })
    const { success, transaction } = await service.settle(body)
    expect(success).toBe(true)
    expect(await lastCaller()).toBe(getAddress(multicall3Address))
    const sent = await scene.chain.client.getTransaction({ hash: `0x${transaction.slice(2)}` })
    expect(getAddress(sent.to ?? '0x')).toBe(getAddress(multicall3Address))
    expect(sent.value).toBe(0n)
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
  })

  it('cannot move funds that only our account may move, although it is listed', async () => {
    const key = await funded(scene)
    const router = await scene.chain.deploy({
      ...getArtifact('RouterGatedOnFacilitator'),
      args: [key.address],
    })
    await scene.chain.mint(router, 5_000n)
    const thief = randomAddress()
    const call = encodeFunctionData({
      abi: parseAbi(['function sweep(address token, address to, uint256 value)']),
      args: [scene.chain.token.verifyingContract, thief, 5_000n],
    })
    const factory = await getHostileFactory(scene.chain)
    const environment = {
      ...deploying(`${factory},${router}`),
      EVM_PRIVATE_KEY: key.privateKey,
    }
    const service = await scene.open({ environment })
    const throughFactory = await withCall((salt) =>
      encodeFunctionData({
        abi: hostileFactoryAbi,
        functionName: 'callAndDeploy',
        args: [router, call, salt, 0],
      }),
    )
    const directly = {
      ...throughFactory,
      deployment: { factory: router, factoryData: call },
    }
    for (const wallet of [throughFactory, directly]) {
      const { body } = await scene.plan({ wallet })
      expect(await service.verify(body)).toMatchObject({
        isValid: false,
        invalidReason: 'smart_wallet_deployment_failed',
      })
      expect(await service.settle(body)).toMatchObject({ success: false })
    }
    expect(await scene.chain.balanceOf(thief)).toBe(0n)
    expect(await scene.chain.balanceOf(router)).toBe(5_000n)
  })

  it.each<[string, string, (salt: Hex) => Hex]>([
    [
      'deploys nothing',
      'smart_wallet_deployment_failed',
      () => encodeFunctionData({ abi: hostileFactoryAbi, functionName: 'deployNothing' }),
    ],
    [
      'never returns',
      'smart_wallet_deployment_failed',
      () => encodeFunctionData({ abi: hostileFactoryAbi, functionName: 'burnEverything' }),
    ],
    [
      'burns more gas than the cap',
      'smart_wallet_deployment_failed',
      (salt) =>
        encodeFunctionData({
          abi: hostileFactoryAbi,
          functionName: 'burnGas',
          args: [3_000_000n, salt, 0],
        }),
    ],
  ])('is refused when it %s, although it is listed', async (_what, reason, factoryData) => {
    const factory = await getHostileFactory(scene.chain)
    const service = await scene.open({ environment: deploying(factory) })
    const { body } = await scene.plan({ wallet: await withCall(factoryData) })
    await expectRefused(scene, service, body, reason)
  })
})

describe('A13: a wallet or token that detects a simulation', () => {
  it('by its gas price is refused: a deployed wallet', async () => {
    const service = await scene.open()
    const wallet = await deployWallet(
      scene.chain,
      await createMoodyWallet(scene.chain, 'acceptsInSimulation'),
    )
    const { body } = await scene.plan({ wallet })
    await expectRefused(scene, service, body, 'invalid_exact_evm_payload_signature')
  })

  it('by its gas price is refused: a wallet that is not deployed yet', async () => {
    const factory = await getHostileFactory(scene.chain)
    const service = await scene.open({
      environment: { DEPLOY_ERC4337_WITH_EIP6492: 'true', EVM_SMART_WALLET_FACTORIES: factory },
    })
    const { body } = await scene.plan({
      wallet: await createMoodyWallet(scene.chain, 'acceptsInSimulation'),
    })
    await expectRefused(scene, service, body, 'smart_wallet_deployment_failed')
  })

  it.each(senderRules)('by its gas price or sender is refused: a token with the rule %s', async (rule) => {
    const service = await scene.open({ environment: { [variable('EVM_TOKENS')]: '*' } })
    const ours = service.signers[0]?.address ?? '0x'
    const known = rule === 'onlyKnownSender' ? randomAddress() : ours
    const token = await deployTestToken(scene.chain, 'SenderDependentToken', [
      senderRules.indexOf(rule),
      known,
    ])
    const { body } = await planPayment(scene.chain, token)
    await expectRefused(scene, service, body, 'invalid_exact_evm_transaction_simulation_failed')
  })

  it('is refused when it delegates (EIP-7702) to code that checks no signatures', async () => {
    const service = await scene.open()
    const wallet = await createDelegatedEoa(scene.chain, { checksSignatures: false })
    const { body } = await scene.plan({ wallet })
    await expectRefused(scene, service, body, 'invalid_exact_evm_payload_signature')
  })
})

describe('A14: gas spent without a payment', () => {
  it('is not spent on payments to oneself', async () => {
    const service = await scene.open()
    const wallet = createEoa()
    const { body } = await scene.plan({ wallet, payTo: wallet.address })
    await expectRefused(scene, service, body, 'self_payment')
  })

  it('is not spent on payments of zero', async () => {
    const service = await scene.open()
    const { body } = await scene.plan({ amount: 0n })
    await expectRefused(scene, service, body, 'invalid_payment_amount')
  })

  it("is limited by the hourly budget; the refusal is not a payer's error", async () => {
    await scene.chain.control.setNextBaseFee(1_000_000_000n)
    await scene.chain.control.mine()
    const service = await scene.open({
      environment: { [variable('EVM_GAS_BUDGET_GWEI_PER_HOUR')]: '1000000' },
    })
    const [one, other] = [await scene.plan(), await scene.plan()]
    expect(await service.settle(one.body)).toMatchObject({ success: true })
    await scene.chain.control.setNextBaseFee(1_000_000_000n)
    await scene.chain.control.mine()
    expect(await rejectionOf(service.settle(other.body))).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      operationalCode: 'SVC-3002',
      retryAfterSeconds: 60,
    })
    expect(await countSent(scene, service)).toBe(1)
    expect(await service.verify(other.body)).toMatchObject({ isValid: true })
  })

  it('is limited per payer and per recipient', async () => {
    const service = await scene.open({
      environment: { SETTLES_PER_PAYER_PER_HOUR: '2', SETTLES_PER_RECIPIENT_PER_HOUR: '3' },
    })
    const wallet = createEoa()
    const payTo = randomAddress()
    const limited = { code: 'RATE_LIMITED', operationalCode: 'SVC-2005' }
    for (let payment = 0; payment < 2; payment++) {
      const { body } = await scene.plan({ wallet, payTo })
      expect(await service.settle(body)).toMatchObject({ success: true })
      // A duplicate costs nothing and does not count.
      expect(await service.settle(body)).toMatchObject({ errorReason: 'duplicate_settlement' })
    }
    const error = await rejectionOf(service.settle((await scene.plan({ wallet, payTo })).body))
    expect(error).toMatchObject(limited)
    // Until the hour of the first one ends; a test takes two minutes at most.
    expect(error.retryAfterSeconds).toBeGreaterThan(3_480)
    // The refusal did not count against the recipient's limit.
    expect(await service.settle((await scene.plan({ payTo })).body)).toMatchObject({ success: true })
    expect(await rejectionOf(service.settle((await scene.plan({ payTo })).body))).toMatchObject(limited)
    expect(await service.settle((await scene.plan()).body)).toMatchObject({ success: true })
    expect(await countSent(scene, service)).toBe(4)
  })
})

describe('A15: front-running by a third party', () => {
  it("returns success once, with the third party's transaction", async () => {
    const { settleAfter, service } = await openSlow(scene)
    const { body, payTo } = await scene.plan({ balance: 50_000n })
    let theirs = ''
    const answer = await settleAfter(body, async () => {
      theirs = await frontRun(body)
    })
    expect(answer).toMatchObject({ success: true, transaction: theirs, status: 'confirmed' })
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
    expect(await service.settle(body)).toMatchObject({
      success: false,
      errorReason: 'duplicate_settlement',
      transaction: theirs,
    })
  })

  it('while the settlement is pending is found by the reconciler', async () => {
    const proxy = await scene.openProxy()
    const service = await scene.open({ rpcUrls: [proxy.url], environment: impatient })
    const { body, payTo } = await scene.plan()
    await scene.chain.control.setAutomine(false)
    const pending = await service.settle(body)
    expect(pending).toMatchObject({ errorReason: 'settlement_pending' })
    // Otherwise it may be sent again before the third party's.
    refuseSends(proxy)
    await scene.chain.control.dropAllTransactions()
    await scene.chain.control.setAutomine(true)
    const theirs = await frontRun(body)
    await reconcileUntil(service, pending, 'confirmed')
    expect(await service.settle(body)).toMatchObject({ success: true, transaction: theirs })
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
  })

  it('with one payment and two used authorizations in one transaction earns one success', async () => {
    const { settleAfter, service } = await openSlow(scene)
    const { chain } = scene
    const wallet = createEoa()
    const payTo = randomAddress()
    const paid = (await scene.plan({ wallet, payTo, balance: 20_000n })).body
    const unpaid = (await scene.plan({ wallet, payTo })).body
    const { nonce } = unpaid.paymentPayload.payload.authorization
    // The same nonce, used by a payment of zero to the caller of the token.
    const burn = { from: wallet.address, to: multicall3Address, value: 0n, validAfter: 0n } as const
    const times = { validBefore: BigInt(unixNow() + 300), nonce }
    const signature = await wallet.account.signTypedData({
      domain: { ...chain.token },
      types: {
        ReceiveWithAuthorization: [
          { name: 'from', type: 'address' },
          { name: 'to', type: 'address' },
          { name: 'value', type: 'uint256' },
          { name: 'validAfter', type: 'uint256' },
          { name: 'validBefore', type: 'uint256' },
          { name: 'nonce', type: 'bytes32' },
        ],
      },
      primaryType: 'ReceiveWithAuthorization',
      message: { ...burn, ...times },
    })
    const burning = encodeFunctionData({
      abi: parseAbi([
        'function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
      ]),
      args: [burn.from, burn.to, burn.value, burn.validAfter, times.validBefore, nonce, signature],
    })
    const { account } = await funded(scene)
    const both = encodeFunctionData({
      abi: multicall3Abi,
      functionName: 'aggregate3',
      args: [
        [
          { target: chain.token.verifyingContract, allowFailure: false, callData: burning },
          { target: chain.token.verifyingContract, allowFailure: false, callData: encodeTransfer(paid).data },
        ],
      ],
    })
    const attack = async () => {
      expect((await chain.send({ account, to: multicall3Address, data: both })).status).toBe('success')
    }
    const [first, second] = await Promise.all([
      settleAfter(unpaid, attack),
      eventually(async () => ((await chain.balanceOf(payTo)) > 0n ? true : null)).then(() =>
        service.settle(paid),
      ),
    ])
    expect(await chain.balanceOf(payTo)).toBe(10_000n)
    expect(await readOneBlockLater(scene, service, first)).toMatchObject({
      status: 'failed',
      errorReason: 'invalid_exact_evm_nonce_already_used',
    })
    expect(second).toMatchObject({ success: false })
  })
})

describe('A17: a node that returns false data', () => {
  const receiptOf = (change: (receipt: Record<string, unknown>) => Record<string, unknown>) => ({
    kind: 'tamper' as const,
    change: (result: unknown) =>
      typeof result === 'object' && result !== null ? change({ ...result }) : result,
  })

  const settleWithFault = async (method: string, fault: Parameters<RpcProxy['setFault']>[1]) => {
    const proxy = await scene.openProxy()
    const service = await scene.open({ rpcUrls: [proxy.url], environment: impatient })
    const { body } = await scene.plan()
    proxy.setFault(method, fault)
    const answer = await service.settle(body)
    await service.reconcile()
    const view = await service.core.useCases.core.getSettlement(answer.settlementId ?? '')
    proxy.clearFaults()
    await reconcileUntil(service, answer, 'confirmed')
    return { answer, duringFault: view.status, afterwards: await service.settle(body) }
  }

  it.each([
    [
      'a receipt of another transaction',
      receiptOf((receipt) => ({ ...receipt, transactionHash: randomHex(32) })),
    ],
    [
      'a receipt of a block that is not on the chain',
      receiptOf((receipt) => ({ ...receipt, blockHash: randomHex(32) })),
    ],
    ['no receipt', { kind: 'tamper', change: () => null } as const],
  ])('with %s causes neither success nor failure', async (_what, fault) => {
    const settled = await settleWithFault('eth_getTransactionReceipt', fault)
    expect(settled.answer).toMatchObject({ success: false, errorReason: 'settlement_pending' })
    expect(settled.duringFault).toBe('pending')
    expect(settled.afterwards).toMatchObject({ success: true, transaction: settled.answer.transaction })
  })

  it('with the state but without the logs does not prove a failure', async () => {
    const proxy = await scene.openProxy()
    const service = await scene.open({ rpcUrls: [proxy.url], environment: impatient })
    const { body } = await scene.plan()
    proxy.setFault('eth_getTransactionReceipt', { kind: 'tamper', change: () => null })
    proxy.setFault('eth_getLogs', { kind: 'tamper', change: () => [] })
    const { settlementId = '' } = await service.settle(body)
    await service.reconcile()
    const view = await service.core.useCases.core.getSettlement(settlementId)
    expect(view.status).toBe('pending')
    proxy.clearFaults()
    await reconcileUntil(service, { settlementId }, 'confirmed')
    expect(await service.settle(body)).toMatchObject({ success: true })
  })

  it('with a wrong block time does not fail a payment that can still be mined', async () => {
    const proxy = await scene.openProxy()
    const service = await scene.open({ rpcUrls: [proxy.url], environment: impatient })
    const { body, payTo } = await scene.plan()
    await scene.chain.control.setAutomine(false)
    const { settlementId = '', transaction } = await service.settle(body)
    proxy.setFault(
      'eth_getBlockByNumber',
      receiptOf((block) => ({ ...block, timestamp: `0x${(unixNow() + 1_000_000).toString(16)}` })),
    )
    await service.reconcile()
    expect(await service.core.useCases.core.getSettlement(settlementId)).toMatchObject({ status: 'pending' })
    proxy.clearFaults()
    await scene.chain.control.mine()
    await reconcileUntil(service, { settlementId }, 'confirmed')
    expect(await service.settle(body)).toMatchObject({ success: true, transaction })
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
  })

  /** A service that reads from an endpoint without receipts, because the other one is slow. */
  const openBehind = async (environment = {}) => {
    const [behind, slow] = [await scene.openProxy(), await scene.openProxy()]
    behind.setFault('eth_getTransactionReceipt', { kind: 'tamper', change: () => null })
    slow.setFault('*', { kind: 'delay', milliseconds: 150 })
    return { behind, service: await scene.open({ rpcUrls: [behind.url, slow.url], environment }) }
  }

  it('without receipts delays no payment where another endpoint has them', async () => {
    const { service } = await openBehind()
    const { body, payTo } = await scene.plan()
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
  })

  it('with a receipt that a second endpoint lacks earns success for a small payment, not for a large one', async () => {
    const { behind, service } = await openBehind({ ...impatient, EVM_CROSS_CHECK_AMOUNT: '10000' })
    const below = await scene.plan({ amount: 9_999n })
    await eventually(async () => {
      const { success } = await service.settle(below.body)
      if (!success) await service.reconcile()
      return success || null
    })
    const { body } = await scene.plan()
    const pending = await service.settle(body)
    expect(pending).toMatchObject({ errorReason: 'settlement_pending' })
    behind.clearFaults()
    await reconcileUntil(service, pending, 'confirmed')
    expect(await service.settle(body)).toMatchObject({ success: true })
  })

  it('of a large payment is not asked of one endpoint alone, however often it is listed', async () => {
    const rpcUrls = [scene.chain.url, `${scene.chain.url}/`]
    const environment = { EVM_CROSS_CHECK_AMOUNT: '10000' }
    const service = await scene.open({ rpcUrls, environment })
    const { body, payTo } = await scene.plan()
    const refusal = {
      isValid: false,
      invalidReason: 'cross_check_unavailable',
      invalidMessage: expect.stringContaining('From 10000 on'),
      retryable: true,
    }
    expect(await service.verify(body)).toMatchObject(refusal)
    expect(await service.settle(body)).toMatchObject({
      errorReason: 'cross_check_unavailable',
      transaction: '',
    })
    expect(await scene.chain.balanceOf(payTo)).toBe(0n)
    const below = await scene.plan({ amount: 9_999n })
    expect(await service.settle(below.body)).toMatchObject({ success: true })

    const trusting = await scene.open({
      rpcUrls,
      environment: { ...environment, REQUIRE_CROSS_CHECK: 'false' },
    })
    expect(await trusting.verify(body)).toMatchObject({ isValid: true })
    expect(await trusting.settle(body)).toMatchObject({ success: true })
  })

  it('that two endpoints confirm and a third one contradicts earns no success for a large payment', async () => {
    const [honest, liar] = [await scene.openProxy(), await scene.openProxy()]
    // Votes after the second confirmation count for a moment only.
    const hold = () => honest.hold('eth_getTransactionReceipt')
    let release = hold()
    liar.setFault(
      'eth_getTransactionReceipt',
      receiptOf((receipt) => {
        release()
        // It is held again until the next vote of the liar.
        release = hold()
        return { ...receipt, status: '0x0' }
      }),
    )
    const service = await scene.open({
      rpcUrls: [scene.chain.url, honest.url, liar.url],
      environment: { ...impatient, EVM_CROSS_CHECK_AMOUNT: '10000' },
    })
    const { body } = await scene.plan()
    const pending = await service.settle(body)
    expect(pending).toMatchObject({ errorReason: 'settlement_pending' })
    liar.clearFaults()
    honest.clearFaults()
    release()
    await reconcileUntil(service, pending, 'confirmed')
    expect(await service.settle(body)).toMatchObject({ success: true })
  })

  it('with a false status of a large payment is overruled by a second endpoint: money that moved', async () => {
    const liar = await scene.openProxy()
    const service = await scene.open({
      rpcUrls: [liar.url, scene.chain.url],
      environment: { ...impatient, EVM_CROSS_CHECK_AMOUNT: '10000' },
    })
    liar.setFault(
      'eth_getTransactionReceipt',
      receiptOf((receipt) => ({ ...receipt, status: '0x0' })),
    )
    const { body, payTo } = await scene.plan()
    const answer = await service.settle(body)
    expect(answer).toMatchObject({ errorReason: 'settlement_pending', status: 'pending' })
    await eventually(async () => (await scene.chain.balanceOf(payTo)) === 10_000n || null)
    liar.clearFaults()
    await reconcileUntil(service, answer, 'confirmed')
    expect(await service.settle(body)).toMatchObject({ success: true, transaction: answer.transaction })
  })

  it('with a false status of a large payment is overruled by a second endpoint: money that did not move', async () => {
    const liar = await scene.openProxy()
    const service = await scene.open({
      rpcUrls: [liar.url, scene.chain.url],
      environment: { ...impatient, ...quickFinality(scene), EVM_CROSS_CHECK_AMOUNT: '10000' },
    })
    const { body, payer, payTo } = await scene.plan()
    const { verifyingContract } = scene.chain.token
    const [transferTopic] = ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef']
    liar.setFault(
      'eth_getTransactionReceipt',
      receiptOf((receipt) => ({
        ...receipt,
        status: '0x1',
        logs: [
          {
            address: verifyingContract,
            topics: [transferTopic, pad(payer), pad(payTo)],
            data: pad('0x2710'),
            transactionHash: receipt.transactionHash,
          },
        ],
      })),
    )
    await scene.chain.control.setAutomine(false)
    const settling = service.settle(body)
    await whenInPool(scene, 1)
    await scene.chain.setPaused(true)
    await scene.chain.control.mine()
    const answer = await settling
    await scene.chain.setPaused(false)
    expect(answer).toMatchObject({ success: false, errorReason: 'settlement_pending' })
    liar.clearFaults()
    const view = await readOneBlockLater(scene, service, answer)
    expect(view.status).toBe('failed')
    expect(await scene.chain.balanceOf(payTo)).toBe(0n)
  })
})

describe('A18: an authorization that expires within seconds', () => {
  it('is valid, but not settled', async () => {
    const clock = standingClock()
    const service = await scene.open({ clock })
    const now = Math.floor(clock.now().getTime() / 1_000)
    const { body } = await scene.plan({ authorization: { validBefore: String(now + 5) } })
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    expect(await service.settle(body)).toMatchObject({
      success: false,
      errorReason: 'invalid_exact_evm_payload_authorization_valid_before',
      operationalCode: 'SVC-1011',
    })
    expect(await countSent(scene, service)).toBe(0)
  })
})

describe('A19: another encoding of a payment', () => {
  const upper = (text: string) => `0x${text.slice(2).toUpperCase()}`

  it.each<[string, (body: ExactPaymentBody) => unknown]>([
    ['v as 0 or 1', (body) => withSignature(body, toParityV)],
    ['a compact signature', (body) => withSignature(body, toCompact)],
    [
      'the addresses and the nonce in capitals',
      (body) => {
        const { paymentPayload, paymentRequirements } = body
        const { signature, authorization } = paymentPayload.payload
        const { from, to, nonce } = authorization
        const asset = upper(paymentRequirements.asset)
        return {
          ...body,
          paymentPayload: {
            ...paymentPayload,
            accepted: { ...paymentPayload.accepted, asset },
            payload: {
              signature: upper(signature),
              authorization: { ...authorization, from: upper(from), to: upper(to), nonce: upper(nonce) },
            },
          },
          paymentRequirements: { ...paymentRequirements, asset, payTo: upper(paymentRequirements.payTo) },
        }
      },
    ],
    [
      'amounts with leading zeros',
      (body) => {
        const { paymentPayload } = body
        const { signature, authorization } = paymentPayload.payload
        return {
          ...body,
          paymentPayload: {
            ...paymentPayload,
            payload: { signature, authorization: { ...authorization, value: `000${authorization.value}` } },
          },
        }
      },
    ],
  ])('(%s) is the same payment', async (_what, respell) => {
    const service = await scene.open()
    const { body, payTo } = await scene.plan({ balance: 50_000n })
    const other = respell(body)
    expect(await service.verify(other)).toMatchObject({ isValid: true })
    const [one, two] = await Promise.all([service.settle(body), service.settle(other)])
    expect([one.success, two.success].filter((success) => success)).toHaveLength(1)
    expect((await service.settle(other)).transaction).toBe(one.success ? one.transaction : two.transaction)
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
    expect(await countSent(scene, service)).toBe(1)
  })

  it('also settles on its own', async () => {
    const service = await scene.open()
    for (const change of [toParityV, toCompact]) {
      const { body, payTo } = await scene.plan()
      expect(await service.settle(withSignature(body, change))).toMatchObject({ success: true })
      expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
    }
  })

  it('with a high s is refused, as by the token', async () => {
    const service = await scene.open()
    const { body } = await scene.plan()
    await expectRefused(scene, service, withSignature(body, toHighS), 'invalid_exact_evm_payload_signature')
  })

  it('with reordered JSON keys is the same request', async () => {
    const service = await scene.open({ environment: impatient })
    const { body } = await scene.plan()
    await scene.chain.control.setAutomine(false)
    const pending = await service.settle(body)
    expect(pending).toMatchObject({ errorReason: 'settlement_pending' })
    await scene.chain.control.mine()
    await reconcileUntil(service, pending, 'confirmed')
    const reordered = {
      paymentRequirements: Object.fromEntries(Object.entries(body.paymentRequirements).reverse()),
      paymentPayload: Object.fromEntries(Object.entries(body.paymentPayload).reverse()),
      x402Version: 2,
    }
    expect(await service.settle(reordered)).toMatchObject({ success: true, transaction: pending.transaction })
  })
})

describe('A33: secrets', () => {
  it('appear in no log line, error or answer', async () => {
    const lines: string[] = []
    const logger = createLogger({ level: 'debug', destination: { write: (line) => void lines.push(line) } })
    const proxy = await scene.openProxy()
    const urlKey = 'k3y-0f-the-pr0vider'
    const service = await scene.open({
      rpcUrls: [`${proxy.url}/v2/${urlKey}?token=${urlKey}`],
      environment: { ...impatient, EVM_RPC_TIMEOUT_MS: '300', LOG_LEVEL: 'debug' },
      logger,
    })
    const answers: unknown[] = []
    const note = async (work: Promise<unknown>) => {
      answers.push(
        await work.catch((error: unknown) => (error instanceof Error ? [error.message, `${error}`] : error)),
      )
    }
    const bodies = await Promise.all(Array.from({ length: 5 }, () => scene.plan()))
    const [plain, hanging, refused, lost, broken] = bodies
    await note(service.settle(plain?.body))
    proxy.setFault('*', { kind: 'hang' }, { times: 3 })
    await note(service.verify(hanging?.body))
    proxy.setFault('*', { kind: 'refuse' })
    await note(service.settle(refused?.body))
    proxy.clearFaults()
    proxy.setFault('eth_sendRawTransaction', { kind: 'error', code: -32000, message: 'insufficient funds' })
    await note(service.settle(lost?.body))
    proxy.setFault('eth_call', { kind: 'status', status: 500 })
    await note(service.settle(broken?.body))
    await service.reconcile()

    const text = `${lines.join('\n')}\n${JSON.stringify(answers)}`
    expect(lines.length).toBeGreaterThan(5)
    expect(text).not.toContain(urlKey)
    for (const { privateKey } of service.signers) expect(text).not.toContain(privateKey.slice(2))
    for (const { body } of bodies) {
      expect(text).not.toContain(body.paymentPayload.payload.signature.slice(2, 130))
    }
    // A raw transaction contains the authorization.
    expect(text).not.toContain('e3ee160e')
  })

  it('are not repeated in the error for an invalid key', async () => {
    const notAKey = 'f'.repeat(64)
    const error = await scene
      .open({ environment: { EVM_PRIVATE_KEY: notAKey } })
      .catch((thrown: unknown) => thrown)
    expect(String(error)).toContain('EVM_PRIVATE_KEY')
    expect(String(error)).not.toContain(notAKey)
  })
})
