// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @notice Code for an EIP-7702 account that checks signatures of its own key.
contract Delegate1271 {
    receive() external payable {}

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 65) return 0xffffffff;
        address recovered =
            ecrecover(digest, uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64]));
        return recovered == address(this) ? this.isValidSignature.selector : bytes4(0xffffffff);
    }
}

/// @notice Code for an EIP-7702 account that checks no signatures: its owner's signature is worth nothing to a
/// token that asks accounts with code.
contract DelegateWithout1271 {
    receive() external payable {}

    function execute(address target, uint256 value, bytes calldata data) external returns (bytes memory) {
        require(msg.sender == address(this), "caller is not the account");
        (bool isDone, bytes memory result) = target.call{value: value}(data);
        require(isDone, "the call failed");
        return result;
    }
}
