/**
 * Compiles the Solidity sources in this folder into `artifacts.json` (`npm run contracts`); offline and
 * deterministic.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { multicall3Abi } from 'viem'
import { z } from 'zod'

const folder = dirname(fileURLToPath(import.meta.url))
const require = createRequire(import.meta.url)

const outputSchema = z.object({
  errors: z.array(z.object({ severity: z.string(), formattedMessage: z.string() })).optional(),
  contracts: z
    .record(
      z.string(),
      z.record(
        z.string(),
        z.object({
          abi: z.array(z.unknown()),
          evm: z.object({ bytecode: z.object({ object: z.string() }) }),
        }),
      ),
    )
    .optional(),
})

const compilerSchema = z.object({
  compile: z.custom<(input: string, callbacks: { import: (path: string) => unknown }) => string>(
    (value) => typeof value === 'function',
  ),
})

const readImport = (path: string): unknown => {
  try {
    return { contents: readFileSync(require.resolve(path), 'utf8') }
  } catch {
    return { error: `${path} is not installed` }
  }
}

const compileSources = (): ReadonlyMap<string, unknown> => {
  const sources = Object.fromEntries(
    readdirSync(folder)
      .filter((name) => name.endsWith('.sol'))
      .sort()
      .map((name) => [name, { content: readFileSync(join(folder, name), 'utf8') }]),
  )
  const input = {
    language: 'Solidity',
    sources,
    settings: {
      optimizer: { enabled: true, runs: 200 },
      evmVersion: 'cancun',
      // Without the metadata hash the code depends only on sources and compiler.
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  }
  const { compile } = compilerSchema.parse(require('solc'))
  const { errors = [], contracts = {} } = outputSchema.parse(
    JSON.parse(compile(JSON.stringify(input), { import: readImport })),
  )
  const failures = errors.filter(({ severity }) => severity === 'error')
  if (failures.length > 0)
    throw new Error(failures.map(({ formattedMessage }) => formattedMessage).join('\n'))

  const artifacts = new Map<string, unknown>()
  for (const [path, declared] of Object.entries(contracts)) {
    // Imported sources are libraries and bases; tests deploy contracts of this folder.
    if (!(path in sources)) continue
    for (const [name, { abi, evm }] of Object.entries(declared)) {
      // Interfaces and abstract contracts have no code.
      if (evm.bytecode.object !== '') artifacts.set(name, { abi, bytecode: `0x${evm.bytecode.object}` })
    }
  }
  return artifacts
}

/** The published code, which is at one address on every chain, not a new compilation. */
const readMulticall3 = (): unknown => {
  const constants = join(dirname(require.resolve('viem')), 'constants')
  const { multicall3Bytecode } = z
    .object({ multicall3Bytecode: z.string() })
    .parse(require(join(constants, 'contracts.js')))
  return { abi: multicall3Abi, bytecode: multicall3Bytecode }
}

/** One contract per line, so that a change of one contract changes one line. */
export const compileContracts = (): string => {
  const artifacts = new Map(compileSources()).set('Multicall3', readMulticall3())
  const lines = [...artifacts]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, artifact]) => `${JSON.stringify(name)}: ${JSON.stringify(artifact)}`)
  return `{\n${lines.join(',\n')}\n}\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(join(folder, 'artifacts.json'), compileContracts())
  console.info('Wrote artifacts.json')
}
