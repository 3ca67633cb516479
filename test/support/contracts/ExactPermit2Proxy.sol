// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {ISignatureTransfer} from "./Permit2.sol";

/// @notice The interface, errors, events and rules of the published x402 proxy for exact payments by Permit2.
contract ExactPermit2Proxy {
    struct Witness {
        address to;
        uint256 validAfter;
    }

    error InvalidPermit2Address();
    error InvalidAmount();
    error InvalidOwner();
    error InvalidDestination();
    error PaymentTooEarly();
    error ReentrancyGuardReentrantCall();

    event Settled();

    string public constant WITNESS_TYPE_STRING =
        "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,uint256 validAfter)";
    bytes32 public constant WITNESS_TYPEHASH = keccak256("Witness(address to,uint256 validAfter)");

    ISignatureTransfer public immutable PERMIT2;
    bool private isEntered;

    constructor(address permit2) {
        if (permit2 == address(0)) revert InvalidPermit2Address();
        PERMIT2 = ISignatureTransfer(permit2);
    }

    function settle(
        ISignatureTransfer.PermitTransferFrom calldata permit,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external {
        if (isEntered) revert ReentrancyGuardReentrantCall();
        isEntered = true;
        if (permit.permitted.amount == 0) revert InvalidAmount();
        if (owner == address(0)) revert InvalidOwner();
        if (witness.to == address(0)) revert InvalidDestination();
        if (block.timestamp < witness.validAfter) revert PaymentTooEarly();
        PERMIT2.permitWitnessTransferFrom(
            permit,
            ISignatureTransfer.SignatureTransferDetails(witness.to, permit.permitted.amount),
            owner,
            keccak256(abi.encode(WITNESS_TYPEHASH, witness.to, witness.validAfter)),
            WITNESS_TYPE_STRING,
            signature
        );
        isEntered = false;
        emit Settled();
    }
}
