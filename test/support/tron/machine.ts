import { Common, Hardfork, Mainnet } from '@ethereumjs/common'
import { createEVM, type EVMResult } from '@ethereumjs/evm'
import { MerkleStateManager } from '@ethereumjs/statemanager'
import { Account, Address } from '@ethereumjs/util'
import { fromHex, toHex } from './keys.js'

/** In TRON's format: the address without its `41`, hex without `0x`. */
interface MachineLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

export interface CallResult {
  readonly outcome: 'SUCCESS' | 'REVERT' | 'OUT_OF_ENERGY'
  readonly energyUsed: number
  readonly returned: string
  readonly logs: readonly MachineLog[]
}

/** `time` in milliseconds. */
interface MachineCall {
  readonly from: string
  readonly to: string
  readonly data: string
  readonly energyLimit: number
  readonly time: number
}

/** Runs one call at a time, so that no partial state is visible. */
export interface Machine {
  /** Commits the changes if `isKept`. */
  call(call: MachineCall, isKept: boolean): Promise<CallResult>
  /** Returns the address as 21 bytes in hex. */
  deploy(from: string, bytecode: string): Promise<string>
  hasCode(address: string): Promise<boolean>
  getRoot(): Promise<Uint8Array>
  setRoot(root: Uint8Array): Promise<void>
}

const toAddress = (hexAddress: string): Address => new Address(fromHex(hexAddress.slice(2)))

const headerAt = (time: number) => ({
  number: 1n,
  coinbase: new Address(new Uint8Array(20)),
  timestamp: BigInt(Math.floor(time / 1_000)),
  difficulty: 0n,
  prevRandao: new Uint8Array(32),
  gasLimit: 1_000_000_000n,
  getBlobGasPrice: () => undefined,
})

/** An EVM without history; its gas stands for energy. */
export const startMachine = async (): Promise<Machine> => {
  const common = new Common({ chain: { ...Mainnet, chainId: 728_126_428 }, hardfork: Hardfork.Cancun })
  const state = new MerkleStateManager({ common })
  const evm = await createEVM({ common, stateManager: state })

  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work)
    last = next.catch(() => undefined)
    return next
  }

  const run = async (
    options: Parameters<typeof evm.runCall>[0],
    from: string,
    isKept: boolean,
  ): Promise<EVMResult> => {
    if ((await state.getAccount(toAddress(from))) === undefined) {
      await state.putAccount(toAddress(from), new Account())
    }
    await evm.journal.checkpoint()
    const result = await evm.runCall({ ...options, caller: toAddress(from), skipBalance: true })
    if (isKept && result.execResult.exceptionError === undefined) await evm.journal.commit()
    else await evm.journal.revert()
    evm.journal.cleanJournal()
    return result
  }

  return {
    call: ({ from, to, data, energyLimit, time }, isKept) =>
      inTurn(async () => {
        const { execResult } = await run(
          {
            to: toAddress(to),
            data: fromHex(data),
            gasLimit: BigInt(energyLimit),
            block: { header: headerAt(time) },
          },
          from,
          isKept,
        )
        const error = execResult.exceptionError?.error
        const isExhausted = error !== undefined && /out of gas/i.test(error)
        return {
          outcome: error === undefined ? 'SUCCESS' : isExhausted ? 'OUT_OF_ENERGY' : 'REVERT',
          energyUsed: isExhausted ? energyLimit : Number(execResult.executionGasUsed),
          returned: toHex(execResult.returnValue),
          logs: (execResult.logs ?? []).map(([address, topics, text]) => ({
            address: toHex(address),
            topics: topics.map(toHex),
            data: toHex(text),
          })),
        }
      }),
    deploy: (from, bytecode) =>
      inTurn(async () => {
        const { execResult, createdAddress } = await run(
          { data: fromHex(bytecode), gasLimit: 100_000_000n, block: { header: headerAt(Date.now()) } },
          from,
          true,
        )
        if (createdAddress === undefined || execResult.exceptionError !== undefined) {
          throw new Error(`The contract cannot be deployed: ${execResult.exceptionError?.error}`)
        }
        return `41${toHex(createdAddress.bytes)}`
      }),
    hasCode: (address) => inTurn(async () => (await state.getCode(toAddress(address))).length > 0),
    getRoot: () => inTurn(() => state.getStateRoot()),
    setRoot: (root) => inTurn(() => state.setStateRoot(root)),
  }
}
