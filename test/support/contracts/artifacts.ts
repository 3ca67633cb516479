import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Abi, type Hex, isHex } from 'viem'
import { z } from 'zod'
import type artifactsFile from './artifacts.json'

/** In the form that viem's `deployContract` and `encodeDeployData` take. */
interface Artifact {
  readonly abi: Abi
  /** Creation code. */
  readonly bytecode: Hex
}

export type ContractName = keyof typeof artifactsFile

const hexSchema = z.custom<Hex>((value) => isHex(value), 'not hex')
const abiSchema = z.custom<Abi>((value) => Array.isArray(value), 'not a list')
const artifactSchema = z.object({ abi: abiSchema, bytecode: hexSchema })
const packagedSchema = z.object({
  abi: abiSchema,
  bytecode: z.string(),
  deployedBytecode: z.string(),
})

const require = createRequire(import.meta.url)
let artifacts: Readonly<Record<string, Artifact>> | null = null

export const getArtifact = (name: ContractName): Artifact => {
  artifacts ??= z
    .record(z.string(), artifactSchema)
    .parse(JSON.parse(readFileSync(new URL('artifacts.json', import.meta.url), 'utf8')))
  const artifact = artifacts[name]
  if (artifact === undefined) throw new Error(`${name} is not compiled: npm run contracts`)
  return artifact
}

/** Runtime code of Uniswap's Permit2 as published, with its license beside it. */
export const getPermit2Code = (): Hex =>
  z
    .object({ runtimeCode: hexSchema })
    .parse(JSON.parse(readFileSync(new URL('permit2.json', import.meta.url), 'utf8'))).runtimeCode

/** Compiled by hardhat and shipped in an npm package. */
interface PackagedArtifact extends Artifact {
  /** Deployed code, with `__$…$__` in place of library addresses. */
  readonly deployedBytecode: string
}

/** By module path in an installed package. */
export const getPackagedArtifact = (path: string): PackagedArtifact => {
  const { abi, bytecode, deployedBytecode } = packagedSchema.parse(require(path))
  // Unlinked bytecode is not hex; use `deployedBytecode`.
  return { abi, bytecode: isHex(bytecode) ? bytecode : '0x', deployedBytecode }
}
