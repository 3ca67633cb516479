// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {MoodyWallet} from "./MoodyWallet.sol";

/// @notice What a payer may name as the factory of an EIP-6492 signature.
contract HostileFactory {
    /// @notice Who called last: must never be a facilitator's key.
    address public lastCaller;

    modifier remembersCaller() {
        lastCaller = msg.sender;
        _;
    }

    /// @notice Succeeds and leaves no code behind.
    function deployNothing() external remembersCaller {}

    /// @notice Uses up all but a little of the gas that it is given, then deploys as promised.
    function burnGas(uint256 gasToBurn, bytes32 salt, MoodyWallet.Mood mood) external remembersCaller {
        uint256 start = gasleft();
        while (start - gasleft() < gasToBurn) {}
        _deploy(salt, mood);
    }

    /// @notice Never returns.
    function burnEverything() external pure {
        while (true) {}
    }

    /// @notice Makes any call before it deploys as promised.
    function callAndDeploy(address target, bytes calldata data, bytes32 salt, MoodyWallet.Mood mood)
        external
        remembersCaller
    {
        (bool isDone,) = target.call(data);
        require(isDone, "the call failed");
        _deploy(salt, mood);
    }

    /// @notice Deploys a wallet that signs everything, or whatever its mood says.
    function deploy(bytes32 salt, MoodyWallet.Mood mood) external remembersCaller {
        _deploy(salt, mood);
    }

    function getAddress(bytes32 salt, MoodyWallet.Mood mood) external view returns (address) {
        bytes32 codeHash = keccak256(abi.encodePacked(type(MoodyWallet).creationCode, abi.encode(mood)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, codeHash)))));
    }

    function _deploy(bytes32 salt, MoodyWallet.Mood mood) private {
        new MoodyWallet{salt: salt}(mood);
    }
}
