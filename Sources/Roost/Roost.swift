/// The version of Roost.
package let roostVersion = "0.1.0"
