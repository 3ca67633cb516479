import { concatHex, formatEther, formatGwei, type Hex, keccak256 } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { sleep } from '../../concurrency/deadline.js'
import { AppError } from '../../errors.js'
import { systemClock } from '../../platform/clock.js'
import { silentLogger } from '../../platform/logger.js'
import { DeploymentError } from '../../platform/startError.js'
import type { Deployment } from '../chain.js'
import { createJsonRpcEndpoint } from '../nodes/jsonRpcEndpoint.js'
import { batchSettler } from './contracts/batchSettler.js'
import {
  type ContractState,
  type DeployedContract,
  deploymentProxy,
  readContractState,
} from './contracts/deployedContract.js'
import { locateUptoRouter } from './contracts/routers.js'
import { WrongChainError } from './monitoredNetwork.js'
import { createRpc, type Rpc } from './rpc/rpc.js'
import type { EvmNetworkSettings, EvmSettings } from './settings.js'
import { createFeeOracle, type FeeOracle, highestGasPrice } from './transactions/fees/fees.js'
import { createSigners } from './transactions/signers.js'

interface Scene {
  readonly network: EvmNetworkSettings
  readonly rpc: Rpc
  readonly fees: FeeOracle
  readonly account: PrivateKeyAccount
  readonly contracts: readonly DeployedContract[]
  readonly deployment: Deployment
}

/**
 * Deploys what a network lacks, by CREATE2 through the deployment proxy, and verifies the code on chain. Every request has
 * the deadline of the service's.
 */
export const deploy = async (settings: EvmSettings, deployment: Deployment): Promise<void> => {
  try {
    await deployMissing(await openNetwork(settings, deployment))
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    throw new DeploymentError(
      `${deployment.network} does not answer, or gas costs too much: ${cause.message}`,
      {
        cause,
      },
    )
  }
}

const openNetwork = async (settings: EvmSettings, deployment: Deployment): Promise<Scene> => {
  const network = settings.networks.find((each) => each.network === deployment.network)
  if (network === undefined) {
    const [, chainId = ''] = deployment.network.split(':')
    throw new DeploymentError(`${deployment.network} is not configured: set EVM_RPC_URL_${chainId}`)
  }
  const endpoints = network.rpcUrls.map((url) => createJsonRpcEndpoint(url, settings.rpcTimeoutMs))
  const rpc = createRpc(network.network, endpoints, silentLogger)
  await rpc.probe()
  for (const { wrongChain } of rpc.listHealth()) {
    if (wrongChain !== null) {
      throw new DeploymentError(new WrongChainError(network.chainId, wrongChain).message)
    }
  }
  const { accounts, addresses } = createSigners(settings.privateKeys)
  const [account] = accounts
  if (account === undefined) throw new DeploymentError('EVM_PRIVATE_KEY: has no key')
  const contracts = [batchSettler, locateUptoRouter(addresses)]
  return { network, rpc, fees: createFeeOracle(network, rpc, systemClock), account, contracts, deployment }
}

/** The account can pay for all of them before the first is sent. */
const deployMissing = async (scene: Scene): Promise<void> => {
  const { network, rpc, deployment } = scene
  const missing: DeployedContract[] = []
  for (const contract of scene.contracts) {
    if ((await readState(rpc, contract)) === 'deployed') reportDeployed(scene, contract)
    else missing.push(contract)
  }
  if (missing.length === 0) return
  await requireProxy(rpc, network)
  const planned = await quote(scene, missing)
  if (deployment.isDryRun) {
    deployment.print('Dry run: nothing was sent.')
    return
  }
  for (const each of planned) await deployContract(scene, each)
}

const deployContract = async (scene: Scene, planned: PlannedDeployment): Promise<void> => {
  const { rpc, deployment } = scene
  const { contract, data, gas } = planned
  const transaction = await send(scene, data, gas)
  deployment.print(`Sent ${transaction}`)
  await waitForReceipt(rpc, transaction)
  if ((await readState(rpc, contract)) !== 'deployed') {
    throw new DeploymentError(
      `${transaction} was mined, but ${contract.address} has no code: run the command again`,
    )
  }
  reportDeployed(scene, contract)
}

const describeContract = ({ network }: Scene, { name, address }: DeployedContract): string =>
  `${name} ${address} on ${network.name} (${network.network})`

const reportDeployed = (scene: Scene, contract: DeployedContract): void =>
  scene.deployment.print(`${describeContract(scene, contract)}: deployed, with the expected code.`)

const readState = async (rpc: Rpc, contract: DeployedContract): Promise<ContractState> => {
  const state = await readContractState(rpc, contract)
  if (state === 'foreign') {
    throw new DeploymentError(
      `${contract.address} has other code than ${contract.name}: the endpoint or the chain is not what it seems`,
    )
  }
  return state
}

// The init code alone decides the address.
const salt: Hex = `0x${'00'.repeat(32)}`

// The proxy's published code has this hash.
const proxyCodeHash = '0x2fa86add0aed31f33a762c9d88e807c475bd51d0f52bd0955754b2608f7e4989'

const requireProxy = async (rpc: Rpc, { network }: EvmNetworkSettings): Promise<void> => {
  const code = await rpc.getCode(deploymentProxy)
  if (code !== '0x' && keccak256(code) === proxyCodeHash) return
  throw new DeploymentError(
    `${network} has no deployment proxy at ${deploymentProxy}: deploy that first (github.com/Arachnid/deterministic-deployment-proxy)`,
  )
}

interface PlannedDeployment {
  readonly contract: DeployedContract
  /** Calldata of the deployment proxy. */
  readonly data: Hex
  readonly gas: bigint
}

/** Prints the highest costs; throws when the account cannot pay them together. */
const quote = async (
  scene: Scene,
  contracts: readonly DeployedContract[],
): Promise<readonly PlannedDeployment[]> => {
  const { rpc, fees, account, network, deployment } = scene
  const [price, balance] = await Promise.all([
    fees.read().then(highestGasPrice),
    rpc.getBalance(account.address),
  ])
  const planned: PlannedDeployment[] = []
  for (const contract of contracts) {
    const data = concatHex([salt, contract.initCode])
    const gas = await estimate(scene, data)
    deployment.print(
      `${describeContract(scene, contract)}: costs at most ${formatEther(gas * price)} of the native coin (${gas} gas at up to ${formatGwei(price)} gwei); a rollup adds its data fee.`,
    )
    planned.push({ contract, data, gas })
  }
  const cost = planned.reduce((sum, { gas }) => sum + gas * price, 0n)
  if (balance < cost) {
    throw new DeploymentError(
      `${account.address} has ${formatEther(balance)} of the native coin on ${network.network}, and the deployment may cost ${formatEther(cost)}: fund it`,
    )
  }
  return planned
}

/** Adds a fifth, because the estimate is of another block. */
const estimate = async ({ rpc, account }: Scene, data: Hex): Promise<bigint> => {
  const estimated = await rpc.estimateGas({ from: account.address, to: deploymentProxy, data })
  if (!estimated.succeeds) throw new DeploymentError(`The deployment would fail: ${estimated.message}`)
  return (estimated.value * 12n) / 10n
}

/** Refuses to send beside a pending transaction of the account, which it might replace. */
const send = async ({ rpc, fees, account, network }: Scene, data: Hex, gas: bigint): Promise<Hex> => {
  const [nonce, withPending] = await Promise.all([
    rpc.getTransactionCount(account.address, 'latest'),
    rpc.getTransactionCount(account.address, 'pending'),
  ])
  if (withPending > nonce) {
    throw new DeploymentError(
      `${account.address} has transactions in flight: wait until they are mined, or stop the service`,
    )
  }
  const { chainId } = network
  const call = { to: deploymentProxy, data, value: 0n } as const
  const bytes = await account.signTransaction({ chainId, nonce, gas, ...call, ...(await fees.read()) })
  const transaction = keccak256(bytes)
  const answer = await rpc.send(bytes)
  if (answer === 'entered' || answer === 'unknown') return transaction
  throw new DeploymentError(
    answer === 'nonce_used'
      ? `Another transaction of ${account.address} used the nonce: run the command again`
      : `The nodes refuse the transaction ${transaction}`,
  )
}

const maxWaitMs = 120_000

const waitForReceipt = async (rpc: Rpc, transaction: Hex): Promise<void> => {
  const deadline = performance.now() + maxWaitMs
  while (performance.now() < deadline) {
    const receipt = await rpc.getReceipt(transaction)
    if (receipt !== null) return
    await sleep(pollMs)
  }
  throw new DeploymentError(
    `${transaction} was not mined within ${maxWaitMs / 1_000} s: run the command again later`,
  )
}

const pollMs = 250
